import type { ScheduleRules } from "@loopwright/core/ports";
import { Cron } from "croner";

/** Expressions that a process remembers, so that a firing does not parse its expression again. */
const rememberedMax = 1_000;

/**
 * The dates of cron expressions: minute, hour, day of month, month, day of week, or a name such as `@daily`. A local time that a zone skips fires when its
 * clocks have been set forward; one that comes twice fires once if the expression names a fixed time, and twice if it repeats within the hour.
 */
export function cronRules(): ScheduleRules {
  const known = new Map<string, Cron>();
  return {
    next(rule, { after, timeZone }) {
      const key = `${timeZone} ${rule}`;
      const cron = known.get(key) ?? new Cron(rule, { timezone: timeZone, mode: "5-part", paused: true });
      if (known.size >= rememberedMax) known.clear();
      known.set(key, cron);
      return cron.nextRun(new Date(after))?.getTime();
    },
  };
}
