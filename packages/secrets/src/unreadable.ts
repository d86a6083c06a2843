import { AgentError } from "@loopwright/core";
import { open } from "./envelope/envelope.ts";

/** A secret that cannot be decrypted. `why` continues the sentence. */
export function unreadable(why: string, cause?: unknown): AgentError {
  return new AgentError("SECRET_UNREADABLE", { message: `A stored secret cannot be decrypted: ${why}.`, cause });
}

/** @throws AgentError SECRET_UNREADABLE when a bit of it was changed, and for another key or place */
export function opened(key: Uint8Array, place: readonly unknown[], sealed: Uint8Array): Uint8Array {
  const plain = open(key, place, sealed);
  if (plain) return plain;
  throw unreadable(
    "it was changed, belongs to another scope or name, was encrypted with another key, or is in a form that this version does not read",
  );
}
