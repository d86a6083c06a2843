import { AgentError } from "../../errors.ts";
import { dueAfter } from "../../loop/due-schedules.ts";
import type { Schedule } from "../../loop/state.ts";
import type { Logger } from "../../ports/logger.ts";
import type { ScheduleRules } from "../../ports/schedule-rules.ts";

/** The dates of schedules, as far as this process can compute them. */
export interface RuleDates {
  /** False if the next date of the schedule cannot be computed here, so that another process must fire it. */
  mayFire(schedule: Schedule): boolean;
  /** The first date after `now`; `undefined`: there is none; `false`: the date cannot be computed here, which was logged. */
  next(schedule: Schedule, now: number): number | undefined | false;
}

export function createRuleDates(rules: ScheduleRules | undefined, logger: Logger): RuleDates {
  /** The due dates whose next date could not be computed, by schedule. */
  const failed = new Map<string, number>();
  const fail = ({ id, due }: Schedule, error: AgentError): false => {
    if (failed.get(id) !== due) logger.log("error", error.message, { code: error.code, schedule: id });
    failed.set(id, due);
    return false;
  };
  return {
    mayFire: ({ id, due }) => failed.get(id) !== due,
    next(schedule, now) {
      const { rule, everyMs, due, timeZone = "UTC" } = schedule;
      if (rule === undefined) return everyMs === undefined || everyMs <= 0 ? undefined : dueAfter(due, { everyMs, at: now });
      try {
        return firstAfter(rules, { rule, after: Math.max(due, now), timeZone });
      } catch (error) {
        return fail(schedule, error as AgentError);
      }
    },
  };
}

/** The first date of a rule after `after`. @throws AgentError INPUT_INVALID with the reason why the date cannot be computed */
export function firstAfter(
  rules: ScheduleRules | undefined,
  { rule, after, timeZone }: { readonly rule: string; readonly after: number; readonly timeZone: string },
): number | undefined {
  if (!rules)
    throw new AgentError("INPUT_INVALID", {
      message: "This process computes no dates of cron expressions.",
      fix: "Give every process that runs sessions `scheduleRules`, for example `cronRules()` of `@loopwright/cron`.",
      details: { field: "cron" },
    });
  let next: number | undefined;
  try {
    next = rules.next(rule, { after, timeZone });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new AgentError("INPUT_INVALID", {
      message: `The rule of the schedule cannot be read: ${reason}`,
      fix: "Write a cron expression with five fields, for example `0 9 * * 1-5`.",
      details: { field: "cron" },
      cause,
    });
  }
  if (next === undefined || (Number.isSafeInteger(next) && next > after)) return next;
  throw new AgentError("INPUT_INVALID", {
    message: "The rules of schedules gave a date that is not after the previous date.",
    fix: "Correct `next` of `scheduleRules`: it gives the first date after `after`, in milliseconds.",
    details: { field: "cron" },
  });
}
