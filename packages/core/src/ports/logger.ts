import type { Json } from "../message/json.ts";

/** Takes what operators read. Never a prompt, an answer or a secret. */
export interface Logger {
  log(level: "debug" | "info" | "warn" | "error", message: string, fields?: { readonly [name: string]: Json | undefined }): void;
}
