/** Before another try: full jitter between 0 and this, doubled with each failure; a server's `retry:` takes its place. */
export const retryBaseMs = 500;
export const retryCapMs = 15_000;
/** The same for a follower of a server that does not answer: it should notice soon when the server is back. */
export const unansweredCapMs = 5_000;
/** A stream that brings no byte for this time is taken for dead; a server pings every 15 s. */
export const silenceMs = 45_000;
/** Tries until a server has answered for the first time. */
export const connectAttempts = 4;
/** Failed connections in a row before the client gives up a run that the server has accepted: some minutes. */
export const resumeAttempts = 60;
/** Longest frame. */
export const frameChars: number = 64 * 1024 * 1024;
/** Deltas that may wait for the reader of an execution. */
export const readerBytes: number = 1024 * 1024;
/** How long a tool with `execute` may take to answer when it has no `timeoutMs`: decision 0024. */
export const toolAnswerMs = 300_000;
/** Most characters sent of a client tool's output: more than any server shows to a model, less than the limit of a request. */
export const toolOutputChars = 200_000;
export const toolErrorChars = 2_000;
