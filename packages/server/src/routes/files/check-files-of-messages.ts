import { AgentError } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import type { Message } from "@loopwright/core/protocol";
import { isFileName } from "@loopwright/core/stores";

/** Names of the files in these messages. */
function filesOf(messages: readonly Message[]): readonly string[] {
  const names = new Set<string>();
  for (const message of messages) {
    if (message.role === "notice" || typeof message.content === "string") continue;
    for (const part of message.content)
      if ((part.type === "image" || part.type === "file") && part.source.blob !== undefined) names.add(part.source.blob);
  }
  return [...names];
}

/**
 * Passes if each file that a message names was uploaded in this scope. The same store has blobs that are no files, such as large values of logs, and a
 * message must not make them readable. @throws AgentError BLOB_UNKNOWN
 */
export async function checkFiles(messages: readonly Message[], { blobs }: SessionStore, scope: string): Promise<void> {
  for (const name of filesOf(messages)) {
    const found = isFileName(name) && (await blobs.list(scope, { prefix: name, limit: 1 })).includes(name);
    if (!found) throw new AgentError("BLOB_UNKNOWN", { message: `There is no file \`${name.slice(0, 80)}\`.` });
  }
}
