import type { Json } from "@loopwright/core";

/** An event of a stream. Everything may be missing, because compatible servers leave much out. */
export interface WireEvent {
  readonly type?: string;
  readonly index?: number;
  readonly message?: WireAnswer;
  readonly content_block?: WireBlock;
  readonly delta?: WireDelta;
  readonly usage?: WireUsage | null;
}

/** The answer of an unstreamed call, and what opens a stream. */
export interface WireAnswer extends WireDelta {
  readonly model?: string;
  readonly content?: readonly WireBlock[];
  readonly usage?: WireUsage | null;
}

/** A block as it starts, or whole. */
export interface WireBlock {
  readonly type?: string;
  readonly [key: string]: Json | undefined;
}

/** What a delta adds to a block or to the message. */
export interface WireDelta {
  readonly type?: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly partial_json?: string;
  readonly citation?: Json;
  readonly stop_reason?: string | null;
  readonly stop_details?: WireStopDetails | null;
}

/** Why the model declined. */
export interface WireStopDetails {
  readonly category?: string | null;
  readonly explanation?: string | null;
}

/** Tokens as the vendor counts them. */
export interface WireUsage {
  readonly input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly output_tokens_details?: { readonly thinking_tokens?: number | null } | null;
}
