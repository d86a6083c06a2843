import type { CallDeadlines } from "../../agent/agent-limits.ts";
import { AgentError } from "../../errors.ts";
import type { Clock } from "../../ports/clock.ts";
import { driverLimits } from "../setup/driver-limits.ts";

/** Ends a model call that is silent for too long. One timer per call, none per delta. */
export interface Watchdog {
  /** Called when content arrives. */
  content(): void;
  /** Called when a sign of life without content arrives. */
  alive(): void;
  /** Stops the deadlines until `resume`, because code of core or of the application is working. */
  pause(): void;
  resume(): void;
  stop(): void;
}

export function watchModelCall(options: WatchOptions, onTimeout: (error: AgentError) => void): Watchdog {
  return new CallWatchdog(options, onTimeout);
}

interface WatchOptions {
  readonly clock: Clock;
  readonly deadlines: CallDeadlines;
  /** The time after which the limit of the run ends the call, whatever the model does. */
  readonly cut?: { readonly afterMs: number; readonly error: AgentError } | undefined;
}

/** A deadline, and the failure if it passes: `error`, or a timeout of the model. */
interface Deadline {
  readonly at: number;
  readonly what: string;
  readonly error?: AgentError;
}

class CallWatchdog implements Watchdog {
  readonly #clock: Clock;
  readonly #deadlines: CallDeadlines;
  readonly #onTimeout: (error: AgentError) => void;
  readonly #startedAt: number;
  readonly #cut: WatchOptions["cut"];
  #contentAt: number | undefined;
  #aliveAt: number | undefined;
  #cancel: (() => void) | undefined;
  /** When the timer fires next. */
  #looksAt = 0;
  #isPaused = false;
  #isStopped = false;
  /** True if a deadline has passed during a pause. */
  #isLate = false;

  constructor({ clock, deadlines, cut }: WatchOptions, onTimeout: (error: AgentError) => void) {
    this.#clock = clock;
    this.#cut = cut;
    this.#deadlines = deadlines;
    this.#onTimeout = onTimeout;
    this.#startedAt = clock.monotonic();
    this.#check();
  }

  content(): void {
    const now = this.#clock.monotonic();
    this.#contentAt = now;
    this.#sign(now);
  }

  alive(): void {
    this.#sign(this.#clock.monotonic());
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#aliveAt !== undefined) this.#aliveAt = this.#clock.monotonic();
    if (this.#isLate) this.#check();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  /** After the first sign of life another deadline holds, which may be sooner than the timer. Later signs only postpone that deadline. */
  #sign(now: number): void {
    const isFirst = this.#aliveAt === undefined;
    this.#aliveAt = now;
    if (isFirst && this.#due().at < this.#looksAt) this.#check();
  }

  #check(): void {
    this.#cancel?.();
    if (this.#isStopped) return;
    this.#isLate = false;
    const { at, what, error } = this.#due();
    this.#looksAt = at;
    const leftMs = at - this.#clock.monotonic();
    if (leftMs > 0) this.#cancel = this.#clock.after(Math.ceil(leftMs), () => this.#check());
    else if (this.#isPaused) this.#isLate = true;
    else this.#onTimeout(error ?? new AgentError("MODEL_TIMEOUT", { message: `The model ${what}.`, details: { ...this.#deadlines } }));
  }

  /** The soonest deadline of those that hold now. */
  #due(): Deadline {
    const { totalMs, firstByteMs, idleMs } = this.#deadlines;
    const startedAt = this.#startedAt;
    const cut = this.#cut ? { at: startedAt + this.#cut.afterMs, what: "", error: this.#cut.error } : undefined;
    const own = { at: startedAt + totalMs, what: `was not complete after ${totalMs} ms` };
    const total: Deadline = cut ? soonest(cut, own) : own;
    if (this.#aliveAt === undefined) return soonest(total, { at: startedAt + firstByteMs, what: `sent nothing for ${firstByteMs} ms` });
    const idle = { at: this.#aliveAt + idleMs, what: `fell silent for ${idleMs} ms` };
    const pingsAlone = {
      at: (this.#contentAt ?? startedAt) + driverLimits.pingsAloneMs,
      what: `sent only pings for ${driverLimits.pingsAloneMs} ms`,
    };
    return soonest(total, soonest(idle, pingsAlone));
  }
}

const soonest = (a: Deadline, b: Deadline): Deadline => (a.at <= b.at ? a : b);
