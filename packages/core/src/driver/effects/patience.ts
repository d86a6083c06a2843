import { AgentError } from "../../errors.ts";
import type { Clock } from "../../ports/clock.ts";
import { driverLimits } from "../setup/session-options.ts";
import type { Maybe } from "./maybe.ts";

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
  return new ClockPatience(clock);
}

class ClockPatience implements Patience {
  readonly #clock: Clock;
  #controller: AbortController | undefined;
  #reason: AgentError | undefined;
  #isOver = false;
  #giveUp: (() => void) | undefined;
  #cancelGrace: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason && !this.#controller.signal.aborted) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  waitFor<T>(work: Maybe<T>, otherwise: (reason: AgentError) => Maybe<T>): Maybe<T> {
    if (!(work instanceof Promise)) return work;
    return new Promise((resolve, reject) => {
      const cancelLimit = this.#clock.after(driverLimits.hookMs, () => this.#end(tooLong()));
      const settle = (): void => {
        cancelLimit();
        this.#cancelGrace?.();
        this.#giveUp = undefined;
      };
      this.#giveUp = () => {
        settle();
        resolve(new Promise((answer) => answer(otherwise(this.#reason as AgentError))));
      };
      const settling =
        <Value>(end: (value: Value) => void) =>
        (value: Value): void => {
          settle();
          end(value);
        };
      work.then(settling(resolve), settling(reject));
      if (this.#isOver) this.#giveUp();
    });
  }

  abort(graceMs: number): void {
    if (this.#reason) return;
    const reason = new AgentError("RUN_ABORTED", { message: "The run was stopped." });
    this.#reason = reason;
    this.#controller?.abort(reason);
    // What is waited for keeps the process alive; a grace that nobody needs does not.
    if (graceMs > 0) this.#cancelGrace = this.#clock.after(graceMs, () => this.#end(reason), { idle: true });
    else this.#end(reason);
  }

  #end(error: AgentError): void {
    if (this.#isOver) return;
    this.#reason ??= error;
    this.#controller?.abort(this.#reason);
    this.#isOver = true;
    this.#giveUp?.();
  }
}

const tooLong = (): AgentError =>
  new AgentError("HOOK_TIMEOUT", {
    message: `A hook did not answer within ${driverLimits.hookMs} ms.`,
    details: { timeoutMs: driverLimits.hookMs },
  });
