/*
 * Owns: what watchers hear of the steps of one tool. Does not own: what the log keeps of them (the closing fact).
 * Why not every change: a tool may report each of a million rows, and every watcher would be written to a million times.
 */

import type { ProgressStep } from "../../loop/fact.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ProgressHandle } from "../../tools/tool.ts";

/** The steps of one tool. */
export interface ToolProgress {
  /** Begins a step. Beyond 200 steps further ones are neither kept nor told. */
  open(title: string, options?: { readonly icon?: string }): ProgressHandle;
  /** All steps as they are now. */
  steps(): readonly ProgressStep[];
  /** Ends what is still open, tells the last state of every step and gives all of them. */
  close(isOk: boolean): readonly ProgressStep[];
}

const stepsMax = 200;
/** Twenty a second. */
const toldEveryMs = 50;

interface Step {
  now: ProgressStep;
  toldAt: number;
  /** Set while a change waits to be told. */
  cancel: (() => void) | undefined;
}

/**
 * Tells of a step when it begins and when it ends, and of changes between at most twenty times a second, always the newest. There is a timer only
 * while a change waits. `shown`: a title as people may see it.
 */
export function createToolProgress(
  clock: Clock,
  tell: (step: ProgressStep) => void,
  shown: (title: string) => string = (title) => title,
): ToolProgress {
  const steps: Step[] = [];

  function tellNow(step: Step): void {
    step.cancel?.();
    step.cancel = undefined;
    step.toldAt = clock.monotonic();
    tell(step.now);
  }

  function change(step: Step, part: Partial<ProgressStep>): void {
    if (step.now.state !== "open") return;
    step.now = { ...step.now, ...part };
    if (part.state !== undefined) tellNow(step);
    else if (!step.cancel) {
      const waitMs = step.toldAt + toldEveryMs - clock.monotonic();
      if (waitMs <= 0) tellNow(step);
      else step.cancel = clock.after(Math.ceil(waitMs), () => tellNow(step));
    }
  }

  const allSteps = (): readonly ProgressStep[] => steps.map(({ now }) => now);

  return {
    open(title, { icon } = {}) {
      if (steps.length >= stepsMax) return { update: () => {}, end: () => {} };
      const now: ProgressStep = {
        id: String(steps.length + 1),
        title: shown(title),
        ...(icon === undefined ? {} : { icon }),
        state: "open",
      };
      const step: Step = { now, toldAt: 0, cancel: undefined };
      steps.push(step);
      tellNow(step);
      return { update: (next) => change(step, { title: shown(next) }), end: (state = "done") => change(step, { state }) };
    },
    steps: allSteps,
    close(isOk) {
      for (const step of steps) change(step, { state: isOk ? "done" : "failed" });
      return allSteps();
    },
  };
}
