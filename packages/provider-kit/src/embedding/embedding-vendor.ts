import type { Usage } from "@loopwright/core";
import type { EmbedRequest } from "@loopwright/core/ports";
import type { WholeVendor } from "../provider/whole-call.ts";

/** What one answer of a vendor holds. */
export interface EmbeddingAnswer {
  /** One for each text of the request, in its order. Checked by the caller. */
  readonly vectors: readonly unknown[];
  readonly usage?: Usage | undefined;
}

/** A vendor of embeddings as its pure parts. */
export interface EmbeddingVendor extends WholeVendor {
  /** Most texts of one request. */
  readonly textsMax: number;
  /** Most bytes of UTF-8 of the texts of one request; a longer text is sent alone. */
  readonly bytesMax: number;
  bodyOf(request: EmbedRequest): unknown;
  /** Reads an answer in JSON. @throws AgentError MODEL_PROTOCOL */
  answerOf(answer: unknown): EmbeddingAnswer;
}
