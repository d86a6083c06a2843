import { AgentError } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import type { FilePart, ImagePart, Message } from "@loopwright/core/protocol";
import { isFileName } from "@loopwright/core/stores";
import { unknownFile } from "../../permissions/unknown-file.ts";
import { storedFile } from "./file-metadata.ts";

type StoredPart = (ImagePart | FilePart) & { readonly source: { readonly blob: string } };

/** True for a part whose bytes are in the store. */
export const isStored = (part: { readonly type: string; readonly source?: unknown }): part is StoredPart =>
  (part.type === "image" || part.type === "file") && (part as ImagePart).source.blob !== undefined;

/** The parts of these messages whose bytes are in the store. */
function storedParts(messages: readonly Message[]): readonly StoredPart[] {
  return messages.flatMap((message) =>
    message.role === "notice" || typeof message.content === "string" ? [] : message.content.filter(isStored),
  );
}

/**
 * Passes if each file that a message names was uploaded in this scope, under the media type that the message states. The same store has blobs that are no
 * files, such as large values of logs, and a message must not make them readable. @throws AgentError BLOB_UNKNOWN, INPUT_INVALID
 */
export async function checkFiles(messages: readonly Message[], store: Pick<SessionStore, "blobs">, scope: string): Promise<void> {
  for (const { type, mediaType, source } of storedParts(messages)) {
    const name = source.blob;
    const found = isFileName(name) ? await storedFile(store, scope, name) : undefined;
    if (!found) throw unknownFile(name);
    const wrong = (message: string): AgentError =>
      new AgentError("INPUT_INVALID", { message, fix: "Name the file in `options.attachments`.", details: { field: "source.blob" } });
    if (found.mediaType !== mediaType) throw wrong(`The file \`${name.slice(0, 80)}\` has another media type than the message states.`);
    if (type === "image" && !mediaType.startsWith("image/")) throw wrong(`The file \`${name.slice(0, 80)}\` is no image.`);
    if (source.sizeBytes !== undefined && source.sizeBytes !== found.sizeBytes)
      throw wrong(`The file \`${name.slice(0, 80)}\` has another size than the message states.`);
  }
}
