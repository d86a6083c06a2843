import type { Failure } from "../errors.ts";

/** The target of a model call; each has a circuit of its own. */
export interface CallTarget {
  readonly scope: string;
  readonly provider: string;
  readonly model: string;
  /** Names a key that is not the platform's. */
  readonly key?: string;
  /** Another model of the fallback chain is called if this one is refused. */
  readonly hasNext?: boolean;
}

/** One attempt that was admitted. It ends with a call of `judge` or `left`. */
export interface GuardedCall {
  /** The vendor has begun to answer. */
  answered(): void;
  /** The answer is not needed any more. */
  left(): void;
  /**
   * The failure as it is recorded. `mayRetry`: the run would make the call again. If the retry budget or the circuit of the process does not permit
   * that soon enough, the recorded failure is not retryable, and its message has the reason. Otherwise it has the wait that the circuit needs.
   */
  judge(failure: Failure, mayRetry: boolean): Failure;
}

/**
 * Limits the calls of all sessions of a process to a failing vendor: one circuit per scope, provider, model and
 * key; one retry budget for the platform's key and one for all others.
 */
export interface CallGuard {
  /**
   * Called before each attempt is recorded, with the target that `admit` gets then, so that a guard which shares its circuits with other processes can
   * look at them. The attempt waits for it. Must not reject.
   */
  prepare?(target: CallTarget): Promise<void> | undefined;
  /** Admits an attempt, or refuses it with the failure that ends it at once. */
  admit(target: CallTarget, attempt: number): { readonly call: GuardedCall } | { readonly refused: Failure };
  /** Milliseconds from now until a retry: `askedMs` plus `random` (in [0, 1)) of `spreadMs`, and more if too many retries are due at that moment. */
  waitMs(retry: { readonly askedMs: number; readonly spreadMs: number; readonly random: number }): number;
}
