/*
 * Owns: the first date of a schedule, as its request names it. Does not own: when it fires (the loop).
 */
import { AgentError } from "../../../errors.ts";
import { timeInZone } from "../../../message/zoned-time.ts";
import { type ScheduleRequest, scheduleLimits } from "../../../protocol/schedule.ts";

/** The first due time that a request names. @throws AgentError INPUT_INVALID with the field in `details` */
export function requestedDue({ at, timeZone, everyMs }: ScheduleRequest, now: number): number {
  const { everyMinMs, everyMaxMs } = scheduleLimits;
  if (everyMs !== undefined && !(Number.isSafeInteger(everyMs) && everyMs >= everyMinMs && everyMs <= everyMaxMs))
    throw flaw("everyMs", `An interval is a whole number of milliseconds from ${everyMinMs} to ${everyMaxMs}.`);
  if (at === undefined && everyMs === undefined) throw flaw("at", "A schedule needs a first time `at`, an interval `everyMs`, or both.");
  if (timeZone !== undefined) checkZone(timeZone);
  if (timeZone !== undefined && !(typeof at === "string" && isLocal(at)))
    throw flaw("timeZone", "`timeZone` belongs to a local time `at`, which has no offset of its own.");
  return at === undefined ? now + (everyMs ?? 0) : timeOf(at, timeZone);
}

/** @throws AgentError INPUT_INVALID for a time that has passed or is more than ten years ahead */
export function checkAhead(due: number, now: number): void {
  if (due <= now) throw flaw("at", `The time ${new Date(due).toISOString()} has passed; it is ${new Date(now).toISOString()}.`);
  if (due - now > scheduleLimits.aheadMaxMs) throw flaw("at", "The time is more than ten years ahead.");
}

/** A date that has fired already is refused as one that has passed. */
export const firedBefore = (due: number): AgentError =>
  flaw("at", `The schedule has fired for ${new Date(due).toISOString()} already.`, "Choose a later time.");

const shape = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::(\d\d)(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?$/;

const isLocal = (at: string): boolean => shape.exec(at)?.[5] === undefined;

function timeOf(at: number | string, timeZone: string | undefined): number {
  if (typeof at === "number") {
    if (Number.isSafeInteger(at) && Math.abs(at) <= 8.64e15) return at;
    throw flaw("at", "`at` as a number is a whole number of milliseconds since the epoch.");
  }
  const [, day, minute, second = "00", fraction = "", offset] = shape.exec(String(at)) ?? [];
  const local = Date.parse(`${day}T${minute}:${second}${fraction}Z`);
  // Some platforms take the 30th of February for the 2nd of March.
  if (!day || Number.isNaN(local) || !new Date(local).toISOString().startsWith(day))
    throw flaw("at", "`at` is not a time.", "Write it as 2027-03-01T09:00, with an offset or a `timeZone`.");
  if (offset === undefined) {
    if (timeZone === undefined) throw flaw("at", "A local time needs its `timeZone`.", "Add `timeZone`, or an offset such as Z or +01:00.");
    return timeInZone(local, timeZone);
  }
  const time = Date.parse(`${day}T${minute}:${second}${fraction}${offset}`);
  if (Number.isNaN(time)) throw flaw("at", "`at` has an offset that does not exist.", "Write it as Z or +01:00.");
  return time;
}

function checkZone(timeZone: string): void {
  try {
    timeInZone(0, timeZone);
  } catch {
    throw flaw("timeZone", "`timeZone` is not a time zone that this platform knows.", "Use an IANA name such as Europe/Berlin or UTC.");
  }
}

const flaw = (field: string, message: string, fix = "Change the schedule and send it again."): AgentError =>
  new AgentError("INPUT_INVALID", { message, fix, details: { field } });
