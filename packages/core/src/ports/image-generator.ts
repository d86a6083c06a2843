import type { Usage } from "../message/usage.ts";

/** A request for a picture. */
export interface ImageRequest {
  /** What the picture shows. Not blank. */
  readonly prompt: string;
  /** Default: the vendor chooses. */
  readonly shape?: "square" | "landscape" | "portrait";
}

/** A picture as the vendor made it. */
export interface GeneratedImage {
  /** The caller owns the bytes. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Found in the bytes, whatever the vendor states. */
  readonly mediaType: "image/png" | "image/jpeg" | "image/webp";
  /** Absent: the vendor reported none. */
  readonly usage?: Usage;
}

/**
 * Makes one picture from a text, in one request. It has no timers and no retries. Errors are those of `ModelProvider`, and hold no prompt and no key.
 */
export interface ImageGenerator {
  /** The vendor's name on usage, for example `openai`. */
  readonly name: string;
  readonly model: string;
  /**
   * @throws AgentError INPUT_INVALID for a blank prompt, before anything is sent; MODEL_REFUSED when the vendor's filter declines, MODEL_PROTOCOL for
   * an answer without a picture, other MODEL_*; the signal's reason once it is aborted
   */
  generate(request: ImageRequest, io: { readonly signal: AbortSignal }): Promise<GeneratedImage>;
}
