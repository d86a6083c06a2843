/** Before another try: full jitter between 0 and this, doubled with each failure; a server's `retry:` takes its place. */
export const retryBaseMs = 500;
export const retryCapMs = 15_000;
/** A stream without a byte for so long is taken for dead; a server pings every 15 s. */
export const silenceMs = 45_000;
/** Tries until a server has answered for the first time. */
export const connectAttempts = 4;
/** Tries in a row to go on with a run that the server has accepted: some minutes. */
export const resumeAttempts = 60;
/** Longest frame. */
export const frameChars: number = 64 * 1024 * 1024;
/** Deltas that may wait for the reader of an execution. */
export const readerBytes: number = 1024 * 1024;
/** How long a tool that this side runs by itself may take to answer, where it does not say: decision 0024. */
export const toolAnswerMs = 300_000;
/** What is sent of the answer of a client tool: more than any server shows to a model, less than a request may weigh. */
export const toolOutputChars = 200_000;
export const toolErrorChars = 2_000;
