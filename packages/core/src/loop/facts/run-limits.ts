/** The limits of a run. They are in `run.started` by value, so that every node applies the same ones. */
export interface RunLimits {
  /** Committed model calls of a run. Default 10. */
  readonly turnsMax: number;
  /** Tool calls of a run that count. Default 0: no limit. */
  readonly toolCallsMax: number;
  /**
   * `finalize` (default): the last allowed model call is made without tools, with a notice for the model. `stop`: the run completes with reason
   * `limit`. `error`: it fails with LIMIT_REACHED.
   */
  readonly onLimit: "finalize" | "stop" | "error";
  /** Attempts of one model call. Default 3. */
  readonly attemptsMax: number;
  /** Attempts of one call of a pure or idempotent tool. Default 3. */
  readonly toolAttemptsMax: number;
  /** Calls of one turn that run at once. Default 16. */
  readonly parallelMax: number;
  /** How long after an abort a started effect may take to end by itself, in milliseconds. Default 5,000. */
  readonly abortGraceMs: number;
  /** Tokens of a run, prompts and answers; exceeded by one call without tools at the most. Default 0: no limit. */
  readonly tokensMax: number;
  /** US dollars that a run may cost; exceeded by one call without tools at the most. Default 0: no limit. */
  readonly costUsdMax: number;
  /**
   * How long a run may take, in milliseconds, not counting the time in which it waits for people and clients. At the limit the running model call and
   * tools are stopped, and one call without tools follows. Default 0: no limit.
   */
  readonly durationMs: number;
  /** The greatest depth of a child that the run, or a session below it, starts: the number of sessions above the child. Default 4; 0: no child. */
  readonly depthMax: number;
}

export const defaultLimits: RunLimits = {
  turnsMax: 10,
  toolCallsMax: 0,
  onLimit: "finalize",
  attemptsMax: 3,
  toolAttemptsMax: 3,
  parallelMax: 16,
  abortGraceMs: 5_000,
  tokensMax: 0,
  costUsdMax: 0,
  durationMs: 0,
  depthMax: 4,
};
