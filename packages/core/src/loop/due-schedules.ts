import { present } from "../message/drop-undefined.ts";
import { isEndedChild } from "./children/background-children.ts";
import type { FactOf } from "./fact.ts";
import type { Firing, Schedule, State } from "./state.ts";

/** How many past due dates a state keeps. */
const firingsMax = 200;

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
export function nextFiring(state: State, mayFire: (schedule: Schedule) => boolean = () => true): number | undefined {
  const ready = readySchedules(state).filter(mayFire);
  return ready.length === 0 ? undefined : Math.min(...ready.map(({ due }) => due));
}

/** The schedule that the input fires; `undefined` if the fact is no firing, or if that date was fired or changed before. */
export function firedBy({ schedules = [] }: State, { origin }: FactOf<"input.accepted">): Schedule | undefined {
  return origin?.type === "schedule" ? schedules.find(({ id, due }) => id === origin.schedule && due === origin.due) : undefined;
}

/** A firing moves a repeated schedule to its first date after the firing, so that missed dates fire once. A schedule that does not repeat ends. */
export function foldFiring(before: State, fact: FactOf<"input.accepted">): State {
  const fired = firedBy(before, fact);
  if (!fired) return before;
  const state = fired.missed ? withFiring(before, { schedule: fired.id, due: fired.due, at: fact.at, runId: fact.runId }) : before;
  const { everyMs } = fired;
  const next = fact.origin?.type === "schedule" ? fact.origin.next : undefined;
  if (next !== undefined) return withSchedule(state, { ...fired, due: next });
  if (everyMs === undefined || everyMs <= 0) return withoutSchedule(state, fired.id);
  return withSchedule(state, { ...fired, due: dueAfter(fired.due, { everyMs, at: fact.at }) });
}

/** The first date of an interval after `at`. */
export function dueAfter(due: number, { everyMs, at }: { readonly everyMs: number; readonly at: number }): number {
  const missed = Math.max(0, Math.floor((at - due) / everyMs));
  return due + (missed + 1) * everyMs;
}

export function foldScheduleSet(before: State, fact: FactOf<"schedule.set">): State {
  const { schedule: id, due, input, everyMs, rule, timeZone, missed, skips, at } = fact;
  const state = skips === undefined ? before : withFiring(before, { schedule: id, due: skips, at });
  return withSchedule(state, { id, due, input, ...present({ everyMs, rule, timeZone, missed }) });
}

const withFiring = (state: State, firing: Firing): State => ({
  ...state,
  firings: [...(state.firings ?? []), firing].slice(-firingsMax),
});

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
