/*
 * Owns: the first date of a schedule, as its request names it. Does not own: when it fires (the loop).
 */
import { AgentError } from "../../../errors.ts";
import { timeInZone } from "../../../message/zoned-time.ts";
import type { ScheduleRules } from "../../../ports/schedule-rules.ts";
import { type ScheduleRequest, scheduleLimits } from "../../../protocol/schedule.ts";
import { firstAfter } from "../../ownership/rule-dates.ts";

/** The first due time that a request names. @throws AgentError INPUT_INVALID with the field in `details` */
export function requestedDue(request: ScheduleRequest, now: number, rules?: ScheduleRules): number {
  const { at, timeZone, everyMs, cron } = request;
  if (request.missed === "skip" && everyMs === undefined && cron === undefined)
    throw flaw("missed", "Only a schedule that repeats can skip the times that it has missed.");
  if (cron !== undefined) return firstOfRule(request, now, rules);
  const { everyMinMs, everyMaxMs } = scheduleLimits;
  if (everyMs !== undefined && !(Number.isSafeInteger(everyMs) && everyMs >= everyMinMs && everyMs <= everyMaxMs))
    throw flaw("everyMs", `An interval is a whole number of milliseconds from ${everyMinMs} to ${everyMaxMs}.`);
  if (at === undefined && everyMs === undefined) throw flaw("at", "A schedule needs a first time `at`, an interval `everyMs`, or both.");
  if (timeZone !== undefined) checkZone(timeZone);
  if (timeZone !== undefined && !(typeof at === "string" && isLocal(at)))
    throw flaw("timeZone", "`timeZone` belongs to a local time `at`, which has no offset of its own.");
  return at === undefined ? now + (everyMs ?? 0) : timeOf(at, timeZone);
}

function firstOfRule({ cron = "", at, everyMs, timeZone = "UTC" }: ScheduleRequest, now: number, rules: ScheduleRules | undefined): number {
  if (at !== undefined || everyMs !== undefined) throw flaw("cron", "A schedule has either `cron`, or a first time `at` and an interval.");
  if (cron.length > scheduleLimits.cronCharacters)
    throw flaw("cron", `A cron expression has at most ${scheduleLimits.cronCharacters} characters.`);
  checkZone(timeZone);
  const due = firstAfter(rules, { rule: cron, after: now, timeZone });
  if (due === undefined) throw flaw("cron", "The cron expression has no date to come.");
  return due;
}

const everyShape = /^@every (?:(\d{1,4})d)?(?:(\d{1,6})h)?(?:(\d{1,8})m)?(?:(\d{1,9})s)?$/;

/** The request with the interval of `@every 1h30m` as `everyMs`. @throws AgentError INPUT_INVALID */
export function withInterval(request: ScheduleRequest): ScheduleRequest {
  const { cron, ...rest } = request;
  if (!cron?.startsWith("@every")) return request;
  const [, days = 0, hours = 0, minutes = 0, seconds = 0] = (everyShape.exec(cron) ?? []).map((count) => Number(count ?? 0));
  const everyMs = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000;
  if (everyMs === 0 || rest.everyMs !== undefined)
    throw flaw("cron", "The interval cannot be read.", "Write it as @every 1h30m, without `everyMs`.");
  return { ...rest, everyMs };
}

/** @throws AgentError INPUT_INVALID for a time that has passed or is more than ten years ahead */
export function checkAhead(due: number, now: number): void {
  if (due <= now) throw flaw("at", `The time ${new Date(due).toISOString()} has passed; it is ${new Date(now).toISOString()}.`);
  if (due - now > scheduleLimits.aheadMaxMs) throw flaw("at", "The time is more than ten years ahead.");
}

/** The error for a date that has fired already. */
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
