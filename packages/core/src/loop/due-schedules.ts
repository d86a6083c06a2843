import { isEndedChild } from "./children/background-children.ts";
import type { FactOf } from "./fact.ts";
import type { Schedule, State } from "./state.ts";

/** The idempotency key of a schedule's input, so that each due time gives one input, however many nodes try. */
export const firingKey = ({ id, due }: Pick<Schedule, "id" | "due">): string => `${id}.${due}`;

/** The schedules that may fire when they are due: all except those whose last input has no answer yet; none of a child that has ended. */
export function readySchedules(state: State): readonly Schedule[] {
  const { schedules = [], inputs, run } = state;
  if (schedules.length === 0 || isEndedChild(state)) return [];
  const open = new Set([run?.schedule, ...inputs.map(({ schedule }) => schedule)]);
  return schedules.filter(({ id }) => !open.has(id));
}

/** The next date at which a schedule fires, in milliseconds since the epoch; `undefined`: no schedule may fire. */
export function nextFiring(state: State): number | undefined {
  const ready = readySchedules(state);
  return ready.length === 0 ? undefined : Math.min(...ready.map(({ due }) => due));
}

/** The schedule that the input fires; `undefined` if the fact is no firing, or if that date was fired or changed before. */
export function firedBy({ schedules = [] }: State, { origin }: FactOf<"input.accepted">): Schedule | undefined {
  return origin?.type === "schedule" ? schedules.find(({ id, due }) => id === origin.schedule && due === origin.due) : undefined;
}

/** A firing moves a repeated schedule to its first date after the firing, so that missed dates fire once. It ends any other schedule. */
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
