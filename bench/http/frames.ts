import { textPieces } from "../server/script.ts";

/** Lane of the model call in the session that Loopwright is measured on; only its length matters. */
const lane = 14;

/** The deltas of one answer as JSON, as Loopwright reports them. */
export const deltaData = (count: number): readonly string[] =>
  textPieces(count).map((delta, index) => JSON.stringify({ type: "text_delta", index: 0, delta, lane, n: index + 2 }));

/** The same as bytes that are ready to be written. */
export const deltaFrames = (count: number): readonly Buffer[] =>
  deltaData(count).map((data) => Buffer.from(`event: text_delta\ndata: ${data}\n\n`));
