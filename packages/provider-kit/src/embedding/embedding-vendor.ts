import type { AgentError, Usage } from "@loopwright/core";
import type { EmbedRequest } from "@loopwright/core/ports";
import type { VendorCall, VendorConnection, VendorFailure } from "../provider/streaming-vendor.ts";

/** What one answer of a vendor holds. */
export interface EmbeddingAnswer {
  /** One for each text of the request, in its order. Checked by the caller. */
  readonly vectors: readonly unknown[];
  readonly usage?: Usage | undefined;
}

/** One request of an embedder, ready to be sent. */
export type EmbeddingCall = Pick<VendorCall<string>, "body" | "signal" | "fetch">;

/** What an instance makes once, at its first call. */
export interface EmbeddingConnection extends Pick<VendorConnection<string>, "secrets" | "explain"> {
  /** Sends the request and gives the vendor's raw answer, whatever its status. */
  send(call: EmbeddingCall): Promise<Response>;
}

/** A vendor of embeddings as its pure parts. Properties are read when they are needed. */
export interface EmbeddingVendor {
  readonly name: string;
  /** The vendor's name for people. */
  readonly label: string;
  readonly model: string;
  /** The transport that the user passed. Default: that of `modelTransport`. */
  readonly transport?: typeof fetch | undefined;
  /** Most texts of one request. */
  readonly textsMax: number;
  /** Most bytes of UTF-8 of the texts of one request; a longer text is sent alone. */
  readonly bytesMax: number;
  bodyOf(request: EmbedRequest): unknown;
  /** Called with the first call, and again after it has failed. @throws AgentError MODEL_KEY_MISSING, CONFIG_INVALID */
  connect(): EmbeddingConnection | Promise<EmbeddingConnection>;
  /** Reads an answer in JSON. @throws AgentError MODEL_PROTOCOL */
  answerOf(answer: unknown): EmbeddingAnswer;
  failureOf(failure: VendorFailure): AgentError;
}
