import type { Json } from "../message/json.ts";

/**
 * Takes what operators read. Never a prompt, an answer or a secret; only the field `vendorSaid`, cut and without keys, may repeat a piece of a request
 * that a vendor refused.
 */
export interface Logger {
  log(level: "debug" | "info" | "warn" | "error", message: string, fields?: { readonly [name: string]: Json | undefined }): void;
}
