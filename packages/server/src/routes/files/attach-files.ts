import { AgentError } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import { type CheckedInput, checkInput, type Labels, type UserMessage } from "@loopwright/core/protocol";
import { isFileName } from "@loopwright/core/stores";
import { unknownFile } from "../../permissions/unknown-file.ts";
import type { RequestContext } from "../../request/route.ts";
import { isStored } from "./check-files-of-messages.ts";
import { type StoredFile, storedFile } from "./file-metadata.ts";
import { pictureReaders } from "./picture-size.ts";

type Part = Exclude<UserMessage["content"], string>[number];

/**
 * The input with the files that its label `attachments` names, behind what it holds: pictures as images, all others as files. Other entries of the label are
 * left to the rule of the deployment. Files that it holds get their sizes. @throws AgentError BLOB_UNKNOWN for a file that the scope does not have,
 * INPUT_INVALID, PAYLOAD_TOO_LARGE
 */
export async function withAttachments(
  { principal, server }: Pick<RequestContext, "principal" | "server">,
  input: CheckedInput,
  labels: Labels | undefined,
): Promise<CheckedInput> {
  const keys = [...new Set((labels?.["attachments"] ?? "").split(",").filter(isFileName))];
  const message = messageOf(input);
  const own: readonly Part[] = typeof message?.content === "string" ? [{ type: "text", text: message.content }] : (message?.content ?? []);
  if (keys.length === 0 && !own.some(isUnsized)) return input;
  const { attachmentsPerInput } = server.limits;
  if (keys.length > attachmentsPerInput)
    throw new AgentError("PAYLOAD_TOO_LARGE", {
      message: `The input has ${keys.length} attachments; at most ${attachmentsPerInput} are allowed.`,
      fix: "Send fewer, or raise `limits.attachmentsPerInput`.",
    });
  if (!message)
    throw new AgentError("INPUT_INVALID", {
      message: "Attachments come with a message, and this input is none.",
      fix: "Leave `options.attachments` out.",
      details: { field: "options.attachments" },
    });
  return checkInput(await attachFiles(server.options.store, principal.scope, { content: own, keys }), { isScanned: true });
}

/** What a message holds, and the files that join it. */
export interface AttachedContent {
  readonly content: UserMessage["content"];
  /** Keys of files of the scope. */
  readonly keys: readonly string[];
}

/**
 * The message with these files of a scope behind its content, as `options.attachments` adds them: pictures as images, all others as files.
 * @throws AgentError BLOB_UNKNOWN, STORE_*
 */
export async function attachFiles(
  store: Pick<SessionStore, "blobs">,
  scope: string,
  { content, keys }: AttachedContent,
): Promise<UserMessage> {
  const own: readonly Part[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const fileOf = (key: string): Promise<StoredFile | undefined> => storedFile(store, scope, key);
  const sized = own.map(async (part) => (isUnsized(part) ? withSize(part, await fileOf(part.source.blob)) : part));
  const added = keys.map(async (key) => partOf(key, await fileOf(key)));
  return { role: "user", content: await Promise.all([...sized, ...added]) };
}

/** The message of a person; `undefined`: the input is none. */
function messageOf({ value, results }: CheckedInput): UserMessage | undefined {
  if (typeof value === "string") return { role: "user", content: value };
  return results === undefined && "role" in value ? value : undefined;
}

type StoredPart = Extract<Part, { readonly type: "image" | "file" }> & { readonly source: { readonly blob: string } };

const isUnsized = (part: Part): part is StoredPart => isStored(part) && part.source.sizeBytes === undefined && isFileName(part.source.blob);

// A file that is not there is refused where the files of all messages are checked.
const withSize = (part: StoredPart, file: StoredFile | undefined): Part =>
  file ? { ...part, source: { ...part.source, sizeBytes: file.sizeBytes } } : part;

function partOf(blob: string, file: StoredFile | undefined): Part {
  if (!file) throw unknownFile(blob);
  const { mediaType, sizeBytes, name } = file;
  const source = { blob, sizeBytes };
  if (pictureReaders.has(mediaType)) return { type: "image", mediaType, source };
  return { type: "file", mediaType, ...(name === undefined ? {} : { name }), source };
}
