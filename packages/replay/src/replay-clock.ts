import type { Clock } from "@loopwright/core/ports";
import type { RecordedCourse } from "./recorded-course.ts";

/** The clock of one process of a replay: it shows the recorded times, and its timers ring when the replay waits for them. */
export interface ReplayClock extends Clock {
  /** Rings the timers that are due by now, in the order of their dates. Returns how many. */
  ring(): number;
  /** Rings nothing any more. */
  stop(): void;
}

/** The wait of the runtime for a hook, before it continues without it, is shorter. */
const shortMs = 100;

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly run: () => void;
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
    after(ms, run) {
      // A short wait is one for code of this process, whose speed is not in the log.
      const timer: Timer = { dueMs: course.nowMs + (ms <= shortMs ? 0 : ms), order: order++, run };
      if (!isStopped && !graceMs.has(ms)) timers.add(timer);
      return () => void timers.delete(timer);
    },
    soon: (run) => void Promise.resolve().then(() => isStopped || run()),
    ring() {
      const due = [...timers].filter(({ dueMs }) => dueMs <= course.nowMs).sort((a, b) => a.dueMs - b.dueMs || a.order - b.order);
      for (const timer of due) if (timers.delete(timer)) timer.run();
      return due.length;
    },
    stop() {
      isStopped = true;
      timers.clear();
    },
  };
}
