import type { Clock } from "@loopwright/core/ports";
import { hasDueSchedule } from "./due-schedules.ts";
import type { RecordedCourse } from "./recorded-course.ts";

/** The clock of one process of a replay: it shows the recorded times, and its timers ring when the replay waits for them. */
export interface ReplayClock extends Clock {
  /**
   * Rings the timers that are due by now, in the order of their dates. Returns how many. The timer for dates of the session waits while a schedule is due, since the log has the
   * firing, unless `isLast`.
   */
  ring(isLast?: boolean): number;
  /** Rings nothing any more. */
  stop(): void;
}

/** The wait of the runtime for a hook, before it continues without it, is shorter. */
const shortMs = 100;

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly run: () => void;
  /** It may wait for a date of the session: such a timer states whether the session rests. */
  readonly mayBeDate: boolean;
}

export function createReplayClock(course: RecordedCourse): ReplayClock {
  // The end of a tool that an abort did not stop is in the log.
  const graceMs = new Set(course.facts.flatMap((fact) => (fact.type === "run.started" ? fact.limits.abortGraceMs : [])));
  const timers = new Set<Timer>();
  let order = 0;
  let isStopped = false;
  return {
    now: () => course.nowMs,
    // No time passes within the process: its leases hold, and no call is late before its recorded end.
    monotonic: () => 0,
    after(ms, run, options) {
      // A short wait is one for code of this process, whose speed is not in the log.
      const timer: Timer = { dueMs: course.nowMs + (ms <= shortMs ? 0 : ms), order: order++, run, mayBeDate: options?.idle !== undefined };
      if (!isStopped && !graceMs.has(ms)) timers.add(timer);
      return () => void timers.delete(timer);
    },
    soon: (run) => void Promise.resolve().then(() => isStopped || run()),
    ring(isLast = false) {
      const { nowMs } = course;
      const mayFire = isLast || !hasDueSchedule(course.facts.slice(0, course.position), nowMs);
      const due = [...timers]
        .filter(({ dueMs, mayBeDate }) => dueMs <= nowMs && (mayFire || !mayBeDate))
        .sort((a, b) => a.dueMs - b.dueMs || a.order - b.order);
      for (const timer of due) if (timers.delete(timer)) timer.run();
      return due.length;
    },
    stop() {
      isStopped = true;
      timers.clear();
    },
  };
}
