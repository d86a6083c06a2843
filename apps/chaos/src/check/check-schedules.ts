/* Whether schedules fire when they are due, once for each date. */
import type { Fact } from "@loopwright/core";

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
