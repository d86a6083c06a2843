import type { Json } from "../message/json.ts";

/**
 * Receives messages for operators. They never contain a prompt, an answer or a secret. Only the field `vendorMessage`, truncated and with keys removed,
 * may repeat a part of a request that a vendor refused.
 */
export interface Logger {
  /** Writes one line at once, in order, whatever line breaks the message and the fields contain. Never throws. */
  log(level: "debug" | "info" | "warn" | "error", message: string, fields?: { readonly [name: string]: Json | undefined }): void;
}
