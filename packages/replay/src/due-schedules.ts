import type { Fact } from "@loopwright/core";

interface Standing {
  readonly due: number;
  readonly everyMs?: number | undefined;
}

/** True if the facts leave a schedule whose date has come. */
export function hasDueSchedule(facts: readonly Fact[], nowMs: number): boolean {
  const standing = new Map<string, Standing>();
  for (const fact of facts) {
    if (fact.type === "schedule.set") standing.set(fact.schedule, fact);
    else if (fact.type === "schedule.cleared") standing.delete(fact.schedule);
    else if (fact.type === "input.accepted" && fact.origin?.type === "schedule") fire(standing, fact.origin, fact.at);
  }
  return [...standing.values()].some(({ due }) => due <= nowMs);
}

function fire(
  standing: Map<string, Standing>,
  { schedule, due, next }: { readonly schedule: string; readonly due: number; readonly next?: number },
  at: number,
): void {
  const fired = standing.get(schedule);
  // It was changed or cleared before.
  if (fired?.due !== due) return;
  const { everyMs = 0 } = fired;
  if (next !== undefined) standing.set(schedule, { ...fired, due: next });
  else if (everyMs <= 0) standing.delete(schedule);
  else standing.set(schedule, { ...fired, due: due + (Math.max(0, Math.floor((at - due) / everyMs)) + 1) * everyMs });
}
