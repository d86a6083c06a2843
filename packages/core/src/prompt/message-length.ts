import type { FilePart, ImagePart } from "../message/content.ts";
import type { Message } from "../message/message.ts";
import type { ModelRequest } from "../ports/model-provider.ts";
import { systemText } from "./system-text.ts";

/** Characters that a token usually stands for. */
export const charactersPerToken = 4;

/** Sizes of the parts of a request, in characters: four for each token that was counted. */
export interface MessageSizes {
  sizeOf(message: Message): number;
  /** The sum over a list that only grows, at the cost of what is new in it. */
  sizeOfAll(messages: readonly Message[]): number;
  /** Of what stands beside the messages. */
  sizeBeside(request: Pick<ModelRequest, "system" | "tools" | "output">): number;
}

/** Characters that an image counts for, and a file of unknown size: about 1,500 tokens, what vendors count for an image of usual size. */
export const mediaCharacters = 6_000;
/** Base64 characters of a file that is no text for each character of it that a model reads: a page of a PDF is 100 KB and 4,000 tokens. */
const fileShare = 8;

/** Characters of a message as a model reads it, for estimates. JSON counts as its text, media as what vendors bill for it. */
export function lengthOf(message: Message): number {
  if (message.role === "notice") return message.text.length;
  if (typeof message.content === "string") return message.content.length;
  let length = 0;
  for (const part of message.content) {
    if (part.type === "text" || part.type === "thinking") length += part.text.length;
    else if (part.type === "tool_call") length += JSON.stringify(part.args).length;
    else if (part.type === "json") length += JSON.stringify(part.value).length;
    else if (part.type === "image" || part.type === "file") length += lengthOfMedia(part);
  }
  return length;
}

/** What an image or a file counts for, whatever of it is in memory. */
function lengthOfMedia(part: ImagePart | FilePart): number {
  const size = part.source.data?.length;
  if (part.type === "image" || size === undefined) return mediaCharacters;
  return Math.ceil(part.mediaType.startsWith("text/") ? (size * 3) / 4 : size / fileShare);
}

/** Characters of a request beside its messages: system prompt, tools, schema of the answer. */
export function lengthBesideMessages({ system, tools, output }: Pick<ModelRequest, "system" | "tools" | "output">): number {
  let length = (systemText(system)?.length ?? 0) + (output === undefined ? 0 : lengthOfSchema(output.schema));
  for (const { name, description, parameters } of tools ?? []) length += name.length + description.length + lengthOfSchema(parameters);
  return length;
}

/** Schemas are the same objects from call to call. */
const schemaLengths = new WeakMap<object, number>();

function lengthOfSchema(schema: object): number {
  let length = schemaLengths.get(schema);
  if (length === undefined) {
    length = JSON.stringify(schema).length;
    schemaLengths.set(schema, length);
  }
  return length;
}

/** The light estimate: characters. */
export const estimatedSizes: Pick<MessageSizes, "sizeOf" | "sizeBeside"> = { sizeOf: lengthOf, sizeBeside: lengthBesideMessages };
