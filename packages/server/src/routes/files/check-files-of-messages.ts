import { AgentError } from "@loopwright/core";
import type { FilePart, ImagePart, Message } from "@loopwright/core/protocol";
import { isFileName } from "@loopwright/core/stores";
import { unknownFile } from "../../permissions/unknown-file.ts";
import type { ServerContext } from "../../server-context.ts";
import { storedFile } from "./file-metadata.ts";

type StoredPart = (ImagePart | FilePart) & { readonly source: { readonly blob: string } };

/** True for a part whose bytes are in the store. */
export const isStored = (part: { readonly type: string; readonly source?: unknown }): part is StoredPart =>
  (part.type === "image" || part.type === "file") && (part as ImagePart).source.blob !== undefined;

/** A caller may bound what a model is shown of a text, but to no less: a file of which nothing is shown would count nothing and be read each time. */
const shownBytesMin = 1_000;

/** The parts of a message whose bytes are in the store. @throws AgentError PAYLOAD_TOO_LARGE */
function storedParts(message: Message, max: number): readonly StoredPart[] {
  const parts = message.role === "notice" || typeof message.content === "string" ? [] : message.content.filter(isStored);
  if (parts.length <= max) return parts;
  throw new AgentError("PAYLOAD_TOO_LARGE", {
    message: `A message has ${parts.length} stored files; at most ${max} are allowed.`,
    fix: "Send fewer, or raise `limits.attachmentsPerInput`.",
  });
}

/**
 * Passes if each file that a message names was uploaded in this scope, under the media type that the message states. The same store has blobs that are no
 * files, such as large values of logs, and a message must not make them readable. @throws AgentError BLOB_UNKNOWN, INPUT_INVALID, PAYLOAD_TOO_LARGE
 */
export async function checkFiles(
  messages: readonly Message[],
  { options, limits }: Pick<ServerContext, "options" | "limits">,
  scope: string,
): Promise<void> {
  for (const { type, mediaType, source } of messages.flatMap((message) => storedParts(message, limits.attachmentsPerInput))) {
    if (source.shownBytes !== undefined && source.shownBytes < shownBytesMin)
      throw new AgentError("INPUT_INVALID", {
        message: `\`source.shownBytes\` is less than ${shownBytesMin}.`,
        fix: "Name a larger bound, or leave the file out.",
        details: { field: "source.shownBytes" },
      });
    const name = source.blob;
    const found = isFileName(name) ? await storedFile(options.store, scope, name) : undefined;
    if (!found) throw unknownFile(name);
    const wrong = (message: string): AgentError =>
      new AgentError("INPUT_INVALID", { message, fix: "Name the file in `options.attachments`.", details: { field: "source.blob" } });
    if (found.mediaType !== mediaType) throw wrong(`The file \`${name.slice(0, 80)}\` has another media type than the message states.`);
    if (type === "image" && !mediaType.startsWith("image/")) throw wrong(`The file \`${name.slice(0, 80)}\` is no image.`);
    if (source.sizeBytes !== undefined && source.sizeBytes !== found.sizeBytes)
      throw wrong(`The file \`${name.slice(0, 80)}\` has another size than the message states.`);
  }
}
