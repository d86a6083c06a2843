/*
 * Owns: the events of the steps of one tool. Does not own: the steps in the log (the closing fact).
 * Why not every change is published: a tool may report each of a million rows, and every subscriber would get a million events.
 */

import type { ProgressStep } from "../../message/message.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ProgressHandle } from "../../tools/tool.ts";
import type { SyncOrAsync } from "../effects/sync-or-async.ts";

/** The steps of one tool. */
export interface ToolProgress {
  /** Begins a step. Beyond 200 steps further ones are neither kept nor published. */
  open(title: string, options?: { readonly icon?: string }): ProgressHandle;
  /** All steps in their current state. */
  steps(): readonly ProgressStep[];
  /** Resolves when every title is filtered; `undefined`: all are. */
  titled(): Promise<void> | undefined;
  /** Ends the open steps, publishes the last state of every step, and returns all of them. */
  close(isOk: boolean): readonly ProgressStep[];
}

const stepsMax = 200;
/** At most twenty events a second. */
const publishedEveryMs = 50;

interface Step {
  now: ProgressStep;
  publishedAt: number;
  /** Present while a change waits to be published. */
  cancel: (() => void) | undefined;
  /** The number of titles that were set. A filtered title is dropped if a newer one was set meanwhile. */
  asked: number;
  /** False until the first title is filtered: before that, nothing of the step is published. */
  isTitled: boolean;
}

/**
 * Publishes a step when it begins and when it ends, and in between its newest state at most twenty times a second. There is a timer only while a
 * change waits. `shown`: filters a title.
 */
export function createToolProgress(
  clock: Clock,
  publish: (step: ProgressStep) => void,
  shown: (title: string) => SyncOrAsync<string> = (title) => title,
): ToolProgress {
  const steps: Step[] = [];
  const pending = new Set<Promise<void>>();

  /** A title that the filter delays is published when it is ready; the newest one counts. */
  function retitle(step: Step, title: string, take: (title: string) => void): void {
    const asked = ++step.asked;
    const ready = shown(title);
    if (!(ready instanceof Promise)) {
      take(ready);
      return;
    }
    const done: Promise<void> = ready.then((later) => {
      if (step.asked === asked) take(later);
      pending.delete(done);
    });
    pending.add(done);
  }

  function publishNow(step: Step): void {
    if (!step.isTitled) return;
    step.cancel?.();
    step.cancel = undefined;
    step.publishedAt = clock.monotonic();
    publish(step.now);
  }

  function change(step: Step, part: Partial<ProgressStep>): void {
    if (step.now.state !== "open") return;
    step.now = { ...step.now, ...part };
    if (part.state !== undefined) publishNow(step);
    else if (!step.cancel) {
      const waitMs = step.publishedAt + publishedEveryMs - clock.monotonic();
      if (waitMs <= 0) publishNow(step);
      else step.cancel = clock.after(Math.ceil(waitMs), () => publishNow(step));
    }
  }

  const allSteps = (): readonly ProgressStep[] => steps.map(({ now }) => now);

  return {
    open(title, { icon } = {}) {
      if (steps.length >= stepsMax) return { update: () => {}, end: () => {} };
      const now: ProgressStep = {
        id: String(steps.length + 1),
        title: "",
        ...(icon === undefined ? {} : { icon }),
        state: "open",
      };
      const step: Step = { now, publishedAt: 0, cancel: undefined, asked: 0, isTitled: false };
      steps.push(step);
      retitle(step, title, (first) => {
        step.now = { ...step.now, title: first };
        step.isTitled = true;
        publishNow(step);
      });
      return {
        update: (next) => retitle(step, next, (later) => change(step, { title: later })),
        end: (state = "done") => change(step, { state }),
      };
    },
    titled: () => (pending.size === 0 ? undefined : Promise.all(pending).then(() => {})),
    steps: allSteps,
    close(isOk) {
      for (const step of steps) change(step, { state: isOk ? "done" : "failed" });
      return allSteps();
    },
  };
}
