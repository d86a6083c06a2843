/** Recorded sessions as deterministic tests: a log is replayed with the agent of today, and the first fact that differs is named. */
export { type Difference, type Divergence, firstDifference, firstDivergence, type PlacedMessage } from "./divergence.ts";
export { digestInOrder } from "./in-order-digests.ts";
export { type ReplayReport, type ReplaySessionOptions, replaySession } from "./replay-session.ts";
export { readSessionLog, type SessionLogFile, sessionLogText } from "./session-log-file.ts";
