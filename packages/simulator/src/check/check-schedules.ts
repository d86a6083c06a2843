/*
 * Owns: the promises about schedules, against a naive model of what stands, written independently of core's fold.
 * Does not own: schedules that were acknowledged (check-acknowledged), those that never fire (simulate waits for them).
 */
import type { Fact } from "@loopwright/core";
import type { Claim } from "./finding.ts";

/** A schedule that will fire. */
export interface StandingSchedule {
  readonly due: number;
  readonly everyMs?: number;
}

/** The schedules that stand after these facts, by name; each firing is passed to `fired` with the schedule that stood before it. */
export function standingSchedules(
  facts: readonly Fact[],
  fired: (fact: Firing, before: StandingSchedule | undefined) => void = () => {},
): ReadonlyMap<string, StandingSchedule> {
  const standing = new Map<string, StandingSchedule>();
  for (const fact of facts) {
    if (fact.type === "session.closed") standing.clear();
    else if (fact.type === "schedule.set") {
      const { schedule, due, everyMs } = fact;
      standing.set(schedule, { due, ...(everyMs === undefined ? {} : { everyMs }) });
    } else if (fact.type === "schedule.cleared") standing.delete(fact.schedule);
    else if (isFiring(fact)) {
      const { schedule } = fact.origin;
      const before = standing.get(schedule);
      fired(fact, before);
      if (before && fact.origin.next !== undefined) standing.set(schedule, { ...before, due: fact.origin.next });
      else if (before?.everyMs === undefined) standing.delete(schedule);
      else standing.set(schedule, { ...before, due: firstAfter(fact.at, { due: before.due, everyMs: before.everyMs }) });
    }
  }
  return standing;
}

/** A date that has not come is no work for an owner, but the world rests only when none is left. */
export function owedFiring(facts: readonly Fact[]): string | undefined {
  const [name] = standingSchedules(facts).keys();
  return name === undefined ? undefined : `the schedule ${name} has not fired for the last time`;
}

type Input = Extract<Fact, { readonly type: "input.accepted" }>;
export type Firing = Input & {
  readonly origin: { readonly type: "schedule"; readonly schedule: string; readonly due: number; readonly next?: number };
};

export const isFiring = (fact: Fact): fact is Firing => fact.type === "input.accepted" && fact.origin?.type === "schedule";

/** At least one interval later; dates that have passed by then are left out. */
function firstAfter(at: number, { due, everyMs }: Required<StandingSchedule>): number {
  let next = due + everyMs;
  if (next <= at) next += Math.ceil((at - next + 1) / everyMs) * everyMs;
  return next;
}

/** T1: each due time fires once, and only of a schedule that stands. T2: none fires before its date; checked when all clocks are right. */
export function checkSchedules(facts: readonly Fact[], { claim, hasTrueClocks }: { claim: Claim; hasTrueClocks: boolean }): void {
  const keys = new Set<string>();
  standingSchedules(facts, (fact, before) => {
    const { schedule, due } = fact.origin;
    const what = `the firing of ${schedule} at ${due} (fact ${fact.seq})`;
    claim(before !== undefined, "T1", () => `${what} has no schedule that stands`);
    claim(before === undefined || before.due === due, "T1", () => `${what} is of a schedule whose date is ${before?.due}`);
    claim(fact.idempotencyKey === `${schedule}.${due}`, "T1", () => `${what} has the key ${fact.idempotencyKey}`);
    claim(!keys.has(`${schedule}.${due}`), "T1", () => `${what} is a second one`);
    keys.add(`${schedule}.${due}`);
    if (hasTrueClocks) claim(fact.at >= due, "T2", () => `${what} came ${due - fact.at} ms before its date`);
  });
}
