import type { FactOf } from "./fact.ts";
import type { Schedule, State } from "./state.ts";

/** The input that a schedule makes when it is due is accepted under this key: one input for each due time, however many nodes try. */
export const firingKey = ({ id, due }: Pick<Schedule, "id" | "due">): string => `${id}.${due}`;

/** Schedules that may fire when they are due: not those whose last input is still to be answered. */
export function readySchedules({ schedules = [], inputs, run }: State): readonly Schedule[] {
  if (schedules.length === 0) return schedules;
  const open = new Set([run?.schedule, ...inputs.map(({ schedule }) => schedule)]);
  return schedules.filter(({ id }) => !open.has(id));
}

/** When the session does something by itself next, in milliseconds since the epoch; `undefined`: no schedule may fire. */
export function nextFiring(state: State): number | undefined {
  const ready = readySchedules(state);
  return ready.length === 0 ? undefined : Math.min(...ready.map(({ due }) => due));
}

/** The schedule that the input fires; `undefined` where the fact is no firing, or that date was fired or changed before. */
export function firedBy({ schedules = [] }: State, { origin }: FactOf<"input.accepted">): Schedule | undefined {
  return origin?.type === "schedule" ? schedules.find(({ id, due }) => id === origin.schedule && due === origin.due) : undefined;
}

/** A firing moves a schedule that repeats to its first date after the firing, so that missed dates fire once, and ends every other one. */
export function foldFiring(state: State, fact: FactOf<"input.accepted">): State {
  const fired = firedBy(state, fact);
  if (!fired) return state;
  const { everyMs } = fired;
  if (everyMs === undefined || everyMs <= 0) return withoutSchedule(state, fired.id);
  const missed = Math.max(0, Math.floor((fact.at - fired.due) / everyMs));
  return withSchedule(state, { ...fired, due: fired.due + (missed + 1) * everyMs });
}

export function foldScheduleSet(state: State, fact: FactOf<"schedule.set">): State {
  const { schedule: id, due, input, everyMs, rule } = fact;
  return withSchedule(state, {
    id,
    due,
    input,
    ...(everyMs === undefined ? {} : { everyMs }),
    ...(rule === undefined ? {} : { rule }),
  });
}

export const hasSchedule = ({ schedules = [] }: State, id: string): boolean => schedules.some((schedule) => schedule.id === id);

function withSchedule(state: State, schedule: Schedule): State {
  const others = (state.schedules ?? []).filter(({ id }) => id !== schedule.id);
  return { ...state, schedules: [...others, schedule] };
}

/** The state without the schedule; without any, the state has no list. */
export function withoutSchedule(state: State, id: string): State {
  const { schedules = [], ...rest } = state;
  const left = schedules.filter((schedule) => schedule.id !== id);
  return left.length > 0 ? { ...rest, schedules: left } : rest;
}
