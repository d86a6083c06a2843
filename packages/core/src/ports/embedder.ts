import type { Usage } from "../message/usage.ts";

/** Texts to turn into vectors. */
export interface EmbedRequest {
  /** Any number of them, none blank. */
  readonly texts: readonly string[];
  /** Whether the texts are passages to be found or queries: some models embed the two differently. */
  readonly purpose: "passage" | "query";
}

export interface Embeddings {
  /** One for each text, in the order of the texts, all of one length. */
  readonly vectors: readonly (readonly number[])[];
  /** Sum over the requests that were sent. Absent: the vendor reported none. */
  readonly usage?: Usage;
}

/**
 * Turns texts into vectors: texts with a similar meaning have vectors that are close to each other. All vectors of an embedder have the same length. It sends
 * as many requests, one after the other, as the vendor's limits demand, and asks the vendor to refuse a long text instead of cutting it, if the vendor can.
 * It has no timers and no retries. Errors are those of `ModelProvider`, and hold no text and no key.
 */
export interface Embedder {
  /** The vendor's name on usage, for example `openai`. */
  readonly name: string;
  readonly model: string;
  /**
   * No text: no vectors and no request.
   * @throws AgentError INPUT_INVALID for a blank text, before anything is sent; MODEL_*, CONTEXT_OVERFLOW; the signal's reason once it is aborted
   */
  embed(request: EmbedRequest, io: { readonly signal: AbortSignal }): Promise<Embeddings>;
}
