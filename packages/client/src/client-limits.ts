/** Every limit of the client. */
export const clientLimits: {
  readonly retryBaseMs: number;
  readonly retryCapMs: number;
  readonly silenceMs: number;
  readonly connectAttempts: number;
  readonly resumeAttempts: number;
  readonly frameChars: number;
  readonly readerBytes: number;
  readonly toolOutputChars: number;
} = {
  /** Before another try: full jitter between 0 and this, doubled with each failure; a server's `retry:` takes its place. */
  retryBaseMs: 500,
  retryCapMs: 15_000,
  /** A stream without a byte for so long is taken for dead; a server pings every 15 s. */
  silenceMs: 45_000,
  /** Tries until a server has answered for the first time. */
  connectAttempts: 4,
  /** Tries in a row to go on with a run that the server has accepted: some minutes. */
  resumeAttempts: 60,
  /** Longest frame. */
  frameChars: 64 * 1024 * 1024,
  /** Deltas that may wait for the reader of an execution. */
  readerBytes: 1024 * 1024,
  /** Text that a client tool may answer, unless it says so itself. */
  toolOutputChars: 100_000,
};
