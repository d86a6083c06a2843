/** What every model provider needs: readers of streams and the one classification of errors. */
export { AnswerStream } from "./answer-stream.ts";
export type { ReaderOptions } from "./body-reader.ts";
export { pendingCharsMax } from "./body-reader.ts";
export type { ChunkDecoder } from "./decode-reads.ts";
export { decodeReads, decodeWhole, failureIn } from "./decode-reads.ts";
export type { DeltaMembers } from "./delta-template.ts";
export { DeltaTemplate } from "./delta-template.ts";
export type { VendorError } from "./error-body.ts";
export { vendorErrorOf } from "./error-body.ts";
export type { FetchErrorContext } from "./error-from-fetch.ts";
export { errorFromFetch, streamBroken } from "./error-from-fetch.ts";
export type { StatusErrorInput } from "./error-from-status.ts";
export { errorFromStatus, rateLimitWaitMaxMs } from "./error-from-status.ts";
export { readNdjson } from "./ndjson.ts";
export { vendorText, vendorTextMax } from "./redact.ts";
export { retryAfterMs } from "./retry-after.ts";
export type { SseConsumer, SseEvent } from "./sse.ts";
export { mapSse, readSse } from "./sse.ts";
