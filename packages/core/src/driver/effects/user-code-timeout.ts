import { AgentError } from "../../errors.ts";
import type { Clock } from "../../ports/clock.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import type { SyncOrAsync } from "./sync-or-async.ts";

/** Limits how long the runtime waits for the user code of one effect: hooks, the prompt, a lookup, a price table. */
export interface UserCodeTimeout {
  /** Aborted by `abort` and by the time limit: the result of the user code is no longer used. */
  readonly signal: AbortSignal;
  /**
   * The result of `work`, at once if it is no promise. If the work takes longer than ten minutes, or is still pending when the grace of
   * `abort` ends: the result of `otherwise`, called with the reason.
   */
  waitFor<T>(work: SyncOrAsync<T>, otherwise: (reason: AgentError) => SyncOrAsync<T>): SyncOrAsync<T>;
  /** Aborts `signal`, and waits for the work for `graceMs` more. */
  abort(graceMs: number): void;
}

export function createUserCodeTimeout(clock: Clock): UserCodeTimeout {
  return new ClockTimeout(clock);
}

class ClockTimeout implements UserCodeTimeout {
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

  waitFor<T>(work: SyncOrAsync<T>, otherwise: (reason: AgentError) => SyncOrAsync<T>): SyncOrAsync<T> {
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
    // An `idle` timer does not keep the process alive. Pending work does, by its own timer in `waitFor`; without work nothing has to wait for the grace.
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
