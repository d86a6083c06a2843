import { AgentError } from "../errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { Maybe } from "./maybe.ts";
import { driverLimits } from "./session-options.ts";

/** How long the runtime waits for user code around one effect: hooks, the prompt, a lookup, a price table. */
export interface Patience {
  /** Aborted when nobody wants the answer any longer. */
  readonly signal: AbortSignal;
  /** What the work gives, at once where it is no promise; once it has taken ten minutes, or was aborted and the grace is over, what `otherwise` makes of the reason. */
  waitFor<T>(work: Maybe<T>, otherwise: (reason: AgentError) => Maybe<T>): Maybe<T>;
  /** Signals the work and waits `graceMs` more for it. */
  abort(graceMs: number): void;
}

export function createPatience(clock: Clock): Patience {
  let controller: AbortController | undefined;
  let reason: AgentError | undefined;
  let isOver = false;
  let giveUp = (): void => {};
  let cancelGrace = (): void => {};

  const end = (error: AgentError): void => {
    if (isOver) return;
    reason ??= error;
    controller?.abort(reason);
    isOver = true;
    giveUp();
  };

  return {
    get signal() {
      controller ??= new AbortController();
      if (reason && !controller.signal.aborted) controller.abort(reason);
      return controller.signal;
    },
    waitFor: (work, otherwise) => {
      if (!(work instanceof Promise)) return work;
      return new Promise((resolve, reject) => {
        const cancelLimit = clock.after(driverLimits.hookMs, () => end(tooLong()));
        const settle = (): void => {
          cancelLimit();
          cancelGrace();
          giveUp = () => {};
        };
        giveUp = () => {
          settle();
          resolve(new Promise((answer) => answer(otherwise(reason as AgentError))));
        };
        const settling =
          <Value>(end: (value: Value) => void) =>
          (value: Value): void => {
            settle();
            end(value);
          };
        work.then(settling(resolve), settling(reject));
        if (isOver) giveUp();
      });
    },
    abort(graceMs) {
      if (reason) return;
      reason = new AgentError("RUN_ABORTED", { message: "The run was stopped." });
      controller?.abort(reason);
      // What is waited for keeps the process alive; a grace that nobody needs does not.
      if (graceMs > 0) cancelGrace = clock.after(graceMs, () => end(reason as AgentError), { idle: true });
      else end(reason);
    },
  };
}

const tooLong = (): AgentError =>
  new AgentError("HOOK_TIMEOUT", {
    message: `A hook did not answer within ${driverLimits.hookMs} ms.`,
    details: { timeoutMs: driverLimits.hookMs },
  });
