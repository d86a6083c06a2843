import type { FilePart, ImagePart } from "../message/content.ts";
import type { Message } from "../message/message.ts";
import { isTextType } from "../message/text-media-type.ts";
import type { MessageSizes } from "../ports/context-engine.ts";
import type { ModelRequest } from "../ports/model-provider.ts";
import { shownBytesOf } from "./stored-media.ts";
import { systemText } from "./system-text.ts";

/** The usual number of characters per token. */
export const charactersPerToken = 4;

/** The characters of an image, or of a file of unknown size: about 1,500 tokens, which vendors count for an image of usual size. */
const mediaCharacters = 6_000;
/** For a file that is not text: the Base64 characters per character that the model reads. A page of a PDF has 100 KB and 4,000 tokens. */
const fileShare = 8;

/** The characters of a file at least, however little of it is shown: its name, its type and the note. */
const fileCharactersMin = 40;

/** The characters of a message for the model, as an estimate. JSON counts as its text, media as the tokens that vendors bill. */
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

/** The characters of an image or a file, also if its bytes are not in memory. */
function lengthOfMedia(part: ImagePart | FilePart): number {
  if (part.type === "image") return mediaCharacters;
  const bytes = part.source.data === undefined ? shownBytesOf(part) : (part.source.data.length * 3) / 4;
  if (bytes === undefined) return mediaCharacters;
  return Math.max(fileCharactersMin, Math.ceil(isTextType(part.mediaType) ? bytes : (bytes * 4) / 3 / fileShare));
}

/** Characters of a request beside its messages: system prompt, tools, schema of the answer. */
function lengthBesideMessages({ system, tools, output }: Pick<ModelRequest, "system" | "tools" | "output">): number {
  let length = (systemText(system)?.length ?? 0) + (output === undefined ? 0 : lengthOfSchema(output.schema));
  for (const { name, description, parameters } of tools ?? []) length += name.length + description.length + lengthOfSchema(parameters);
  return length;
}

/** Cached by object, because schemas are the same objects in each call. */
const schemaLengths = new WeakMap<object, number>();

function lengthOfSchema(schema: object): number {
  let length = schemaLengths.get(schema);
  if (length === undefined) {
    length = JSON.stringify(schema).length;
    schemaLengths.set(schema, length);
  }
  return length;
}

/** The cheap estimate by characters. */
export const estimatedSizes: Pick<MessageSizes, "sizeOf" | "sizeBeside"> = { sizeOf: lengthOf, sizeBeside: lengthBesideMessages };
