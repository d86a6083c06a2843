/* Whether schedules fire when they are due, once for each date. */
import type { Fact, FactOf } from "@loopwright/core";

interface Known {
  readonly due: number;
  readonly everyMs: number | undefined;
}

/** I17: each firing is of a schedule that is set, at the date for which it is due, not before it, once, and under the key of that date. */
export function checkSchedules(facts: readonly Fact[]): readonly string[] {
  const flaws: string[] = [];
  const known = new Map<string, Known>();
  for (const fact of facts) {
    if (fact.type === "schedule.set") known.set(fact.schedule, { due: fact.due, everyMs: fact.everyMs });
    if (fact.type === "schedule.cleared") known.delete(fact.schedule);
    if (fact.type !== "input.accepted" || fact.origin?.type !== "schedule") continue;
    const { schedule, due, next } = fact.origin;
    const firing = `the schedule ${schedule} fired at ${fact.seq}`;
    const set = known.get(schedule);
    if (fact.idempotencyKey !== `${schedule}.${due}`) flaws.push(`I17: ${firing} under the key ${fact.idempotencyKey ?? "none"}`);
    if (fact.at < due) flaws.push(`I17: ${firing}, ${due - fact.at} ms too early`);
    if (!set) flaws.push(`I17: ${firing} and was not set, or cleared, or fired before`);
    else if (set.due !== due) flaws.push(`I17: ${firing} for ${due} and was due at ${set.due}`);
    else if (next !== undefined && next <= Math.max(due, fact.at))
      flaws.push(`I17: ${firing} and is due next at ${next}, which has passed`);
    else if (next !== undefined) known.set(schedule, { ...set, due: next });
    else fire(known, { schedule, set, at: fact.at });
  }
  return flaws;
}

/** A schedule that repeats is due at its first date after the firing; any other one is over. */
function fire(
  known: Map<string, Known>,
  { schedule, set, at }: { readonly schedule: string; readonly set: Known; readonly at: number },
): void {
  const { due, everyMs } = set;
  if (everyMs === undefined) known.delete(schedule);
  else known.set(schedule, { due: due + (Math.floor(Math.max(0, at - due) / everyMs) + 1) * everyMs, everyMs });
}

/** What the due times of a session's schedules became. */
export interface FiringCounts {
  readonly firings: number;
  /** Firings of a date that was fired before. */
  readonly doubled: number;
  /** Dates that were left out, because a firing that came later answered for them. */
  readonly passed: number;
  /** Firings whose run was completed. */
  readonly completed: number;
  /** How late each firing was, in milliseconds. */
  readonly lateMs: readonly number[];
  readonly flaws: readonly string[];
}

/** The only rule that the rig sets: every minute. */
const minuteMs = 60_000;

/** I17, date by date: each one up to the last firing was fired once, or had passed when the date before it was fired. */
export function countFirings(facts: readonly Fact[]): FiringCounts {
  const sets = facts.filter((fact): fact is FactOf<"schedule.set"> => fact.type === "schedule.set");
  const completed = new Set(facts.flatMap((fact) => (fact.type === "run.finished" && fact.status === "completed" ? [fact.runId] : [])));
  const each = sets.map((set) => {
    const fired = facts.filter((fact) => firedDate(fact, set.schedule) !== undefined) as readonly FactOf<"input.accepted">[];
    return { ...countDates(set, fired), completed: fired.filter(({ runId }) => completed.has(runId)).length };
  });
  const total = (of: "firings" | "doubled" | "passed" | "completed"): number => each.reduce((sum, one) => sum + one[of], 0);
  return {
    firings: total("firings"),
    doubled: total("doubled"),
    passed: total("passed"),
    completed: total("completed"),
    lateMs: each.flatMap(({ lateMs }) => lateMs),
    flaws: each.flatMap(({ flaws }) => flaws),
  };
}

function countDates(
  { schedule, due: first, everyMs, rule }: FactOf<"schedule.set">,
  fired: readonly FactOf<"input.accepted">[],
): Omit<FiringCounts, "completed"> {
  const stepMs = rule === undefined ? everyMs : minuteMs;
  const ranges = fired.map((fact) => ({ due: firedDate(fact, schedule) ?? 0, at: fact.at }));
  const counts = Map.groupBy(ranges, ({ due }) => due);
  const last = ranges.reduce((most, { due }) => Math.max(most, due), 0);
  const flaws: string[] = [];
  const dates = new Set<number>();
  for (let date = first; date <= last; date += stepMs ?? Number.POSITIVE_INFINITY) dates.add(date);
  const unfired = [...dates].filter((date) => !counts.has(date));
  const lost = unfired.filter((date) => !ranges.some(({ due, at }) => due < date && date <= at));
  for (const date of lost) flaws.push(`I17: the schedule ${schedule} was due at ${date} and did not fire`);
  for (const [date, { length }] of counts) {
    if (length > 1) flaws.push(`I17: the schedule ${schedule} fired ${length} times for ${date}`);
    if (!dates.has(date)) flaws.push(`I17: the schedule ${schedule} fired for ${date}, which is none of its dates`);
  }
  return {
    ...{ firings: ranges.length, doubled: ranges.length - counts.size, passed: unfired.length - lost.length },
    ...{ lateMs: ranges.map(({ due, at }) => at - due), flaws },
  };
}

/** The date for which the fact fires the schedule; `undefined`: it does not. */
export const firedDate = (fact: Fact, schedule: string): number | undefined =>
  fact.type === "input.accepted" && fact.origin?.type === "schedule" && fact.origin.schedule === schedule ? fact.origin.due : undefined;
