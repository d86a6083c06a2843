import type { Failure } from "../../errors.ts";

/** The target of a model call; each has a circuit of its own. */
export interface CallTarget {
  readonly scope: string;
  readonly provider: string;
  readonly model: string;
}

/** One attempt that was let through; `judge` or `left` ends it. */
export interface GuardedCall {
  /** The vendor has begun to answer. */
  answered(): void;
  /** Its answer is not needed any more. */
  left(): void;
  /**
   * The failure as it is to be recorded. `mayRetry`: the run would make the call again. Where the process may not, or not soon enough, it is no
   * longer retryable, and its message gives the reason; else it asks for the wait that the circuit needs.
   */
  judge(failure: Failure, mayRetry: boolean): Failure;
}

/** What the sessions of a process share so that a vendor in trouble is not made worse: one retry budget, one circuit per scope, provider and model. */
export interface CallGuard {
  /** Lets an attempt through, or gives the failure that it ends with at once. */
  admit(target: CallTarget, attempt: number): { readonly call: GuardedCall } | { readonly refused: Failure };
  /** Milliseconds from now until a retry: after the wait that was asked for, by a number in [0, 1) of the spread, and not in one moment with others. */
  waitMs(retry: { readonly askedMs: number; readonly spreadMs: number; readonly random: number }): number;
}
