import type { Json } from "./json.ts";
import type { StopReason } from "./message.ts";
import type { Usage } from "./usage.ts";

/**
 * A chunk of a provider's stream. `index` numbers the blocks of the message from 0 in their order in the message; all chunks of a block carry its
 * index, and the chunks of several blocks may alternate.
 */
export type ModelChunk =
  | { readonly type: "text"; readonly index: number; readonly delta: string }
  | { readonly type: "thinking"; readonly index: number; readonly delta: string }
  /**
   * The text or thinking block is complete. Sent for vendors that mark it. Without it, text that a stream filter holds back is shown only when the
   * answer ends.
   */
  | { readonly type: "block-end"; readonly index: number }
  | { readonly type: "call-start"; readonly index: number; readonly id?: string; readonly name: string }
  /** A piece of the raw JSON text of the arguments. */
  | { readonly type: "call-args"; readonly index: number; readonly delta: string }
  | { readonly type: "call-end"; readonly index: number }
  /** Belongs to the block of the same index if there is one (a signature), otherwise it is a block of its own. The last opaque chunk of an index counts. */
  | { readonly type: "opaque"; readonly index: number; readonly vendor: string; readonly data: Json }
  /** Each count replaces the same count of earlier usage chunks. */
  | { readonly type: "usage"; readonly usage: Usage }
  /** The vendor's sign of life without content (ping). */
  | { readonly type: "alive" }
  /** Exactly one, as the last chunk. `message`: a text for people, only with the stop reason `error`. */
  | {
      readonly type: "end";
      readonly stopReason: Exclude<StopReason, "aborted">;
      readonly raw?: string;
      readonly message?: string;
      /** The model that answered, if the vendor reports it. */
      readonly model?: string;
    };
