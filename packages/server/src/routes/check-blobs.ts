import { AgentError } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import type { ExecuteInput, Message } from "@loopwright/core/protocol";

/** Keys of the files that messages name. */
function blobsOf(messages: readonly Message[]): readonly string[] {
  const keys = new Set<string>();
  for (const message of messages) {
    if (message.role === "notice" || typeof message.content === "string") continue;
    for (const part of message.content)
      if ((part.type === "image" || part.type === "file") && part.source.blob !== undefined) keys.add(part.source.blob);
  }
  return [...keys];
}

function messagesOf(input: ExecuteInput): readonly Message[] {
  if (typeof input === "string" || "regenerate" in input) return [];
  return "role" in input ? [input] : input;
}

/** @throws AgentError BLOB_UNKNOWN when an input names a file that was not uploaded in this scope */
export async function checkBlobs(input: ExecuteInput, { blobs }: SessionStore, scope: string): Promise<void> {
  for (const key of blobsOf(messagesOf(input))) {
    const found = await blobs.list(scope, { prefix: key, limit: 1 });
    if (!found.includes(key)) throw new AgentError("BLOB_UNKNOWN", { message: `There is no file \`${key.slice(0, 80)}\`.` });
  }
}
