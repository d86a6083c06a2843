import { type FilePart, type ImagePart, isTextType, type Message } from "@loopwright/core";
import type { CountedPart, MessageSizes, ModelRequest, TokenCounter } from "@loopwright/core/ports";

/** Sizes are in quarters of a token. */
export const unitsPerToken = 4;

/** Of an image, or of a file of unknown size: about 1,500 tokens, which vendors count for an image of usual size. */
export const mediaUnits = 6_000;
/** For a file that is not text: the Base64 characters per unit. A page of a PDF has 100 KB and 4,000 tokens. */
const fileShare = 8;
/** Bytes of a stored text that a model is shown where its part names no other number. */
const shownTextBytesMax = 128 * 1024;
/** What a message has around its content: its role and its borders. */
const messageUnits = 12;

/** A letter of ASCII is a quarter of a token, one of another alphabet half a token, and a Chinese sign or half of an emoji a token. */
export function unitsOfText(text: string): number {
  let units = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) units += code > 0x10ff ? 3 : 1;
  }
  return units;
}

/** The most characters from the beginning of the text that have so many units at most. */
export function lengthWithin(text: string, units: number): number {
  let left = units;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    left -= code > 0x10ff ? 4 : code > 0x7f ? 2 : 1;
    if (left < 0) return at;
  }
  return text.length;
}

const sizes = new WeakMap<Message, number>();

/** The size of a message, which is looked at once. */
export function unitsOf(message: Message): number {
  let units = sizes.get(message);
  if (units === undefined) {
    units = messageUnits + unitsOfContent(message);
    sizes.set(message, units);
  }
  return units;
}

function unitsOfContent(message: Message): number {
  if (message.role === "notice") return unitsOfText(message.text);
  if (typeof message.content === "string") return unitsOfText(message.content);
  let units = 0;
  for (const part of message.content) {
    if (part.type === "text" || part.type === "thinking") units += unitsOfText(part.text);
    else if (part.type === "tool_call") units += unitsOfText(callText(part));
    else if (part.type === "json") units += unitsOfText(JSON.stringify(part.value));
    else if (part.type === "image" || part.type === "file") units += unitsOfMedia(part);
  }
  return units;
}

/** What a call is counted as. */
function callText({ id, name, args }: { readonly id: string; readonly name: string; readonly args: unknown }): string {
  return JSON.stringify({ tool_call_id: id, tool_name: name, tool_args: args });
}

/** The size of an image or a file, also if its bytes are not in memory. A byte of text is a unit. */
export function unitsOfMedia(part: ImagePart | FilePart): number {
  if (part.type === "image") return mediaUnits;
  const { source, mediaType } = part;
  const sizeBytes = source.data === undefined ? source.blob && source.sizeBytes : (source.data.length * 3) / 4;
  if (typeof sizeBytes !== "number") return mediaUnits;
  if (!isTextType(mediaType)) return Math.ceil((sizeBytes * 4) / 3 / fileShare);
  return Math.ceil(source.blob === undefined ? sizeBytes : Math.min(sizeBytes, source.shownBytes ?? shownTextBytesMax));
}

/** Tools and schemas are the same objects from call to call. */
const objects = new WeakMap<object, number>();

function unitsOfObject(value: object): number {
  let units = objects.get(value);
  if (units === undefined) {
    units = unitsOfText(JSON.stringify(value));
    objects.set(value, units);
  }
  return units;
}

/** The size of a request beside its messages: system prompt, tools, schema of the answer. */
function unitsBeside({ system = [], tools = [], output }: Pick<ModelRequest, "system" | "tools" | "output">): number {
  const texts = system.reduce((sum, { text }) => sum + unitsOfText(text), 0);
  return tools.reduce((sum, tool) => sum + unitsOfObject(tool), texts) + (output ? unitsOfObject(output.schema) : 0);
}

/** The sizes without a tokenizer. */
export const lightSizes: Pick<MessageSizes, "sizeOf" | "sizeBeside"> = { sizeOf: unitsOf, sizeBeside: unitsBeside };

/**
 * The light counter as a `TokenCounter`, for example for a usage ledger: a token for four letters of ASCII, two of another alphabet, or one Chinese
 * sign. The context engine uses the same numbers where the session has no counter.
 */
export function lightCounter(): TokenCounter {
  return {
    count: (_: string, part: CountedPart) => Math.ceil((typeof part === "string" ? unitsOfText(part) : unitsOf(part)) / unitsPerToken),
  };
}
