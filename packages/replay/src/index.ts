/** Recorded sessions as deterministic tests: a log is replayed with the agent of today, and the first fact that differs is named. */
export { assertReplay, divergenceLines } from "./assert-replay.ts";
export { type Difference, type Divergence, firstDifference, firstDivergence, type PlacedMessage } from "./divergence.ts";
export { digestInOrder } from "./in-order-digests.ts";
export type { FoundText } from "./redaction/found-texts.ts";
export {
  type RedactedSessionLog,
  type RedactSessionLogOptions,
  type ReplacedText,
  redactSessionLog,
} from "./redaction/redact-session-log.ts";
export { type ReplayReport, type ReplaySessionOptions, replaySession } from "./replay-session.ts";
export { readFacts, readSessionLog, type SessionLogFile, sessionLogText } from "./session-log-file.ts";
