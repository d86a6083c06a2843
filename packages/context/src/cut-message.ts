import type { FilePart, ImagePart, Json, Message, ResultPart, ToolResultMessage, UserMessage, UserPart } from "@loopwright/core";
import { isTextType, partsOf } from "@loopwright/core";
import { lengthWithin, unitsOfMedia, unitsOfText } from "./sizes.ts";

/** Results and inputs no larger than this are never cut, in units of a size: 2,000 characters of ASCII. */
export const keptMin = 2_000;

/** Messages as they are cut: the same object each time, so that providers may cache by identity. */
const cutMessages = new WeakMap<Message, Message>();

/** A tool result as its beginning, or a user message without images and files. Other messages stay. */
export function cutMessage(message: Message): Message {
  let shown = cutMessages.get(message);
  if (!shown) {
    shown = message.role === "tool_result" ? cutResult(message, keptMin) : message.role === "user" ? withoutMedia(message) : message;
    cutMessages.set(message, shown);
  }
  return shown;
}

/** The user message with at most so many characters of text: the beginning, a note, and the end. */
export function cutInput(message: UserMessage, characters: number): UserMessage {
  const parts = partsOf<UserPart>(message.content);
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  if (text.length <= characters) return message;
  const end = Math.floor(characters / 4);
  const note = leftOut(`${text.length - characters} characters`);
  const kept: UserPart = { type: "text", text: `${headOf(text, characters - end)}\n${note}\n${tailOf(text, end)}` };
  return { ...message, content: [kept, ...parts.filter((part) => part.type !== "text")] };
}

/** The first characters, one fewer where that would part a surrogate pair. A copy, which does not keep the whole text in memory. */
export function headOf(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return JSON.parse(JSON.stringify(text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max)));
}

function tailOf(text: string, max: number): string {
  if (max <= 0) return "";
  const from = text.length - max;
  const first = text.charCodeAt(from);
  return JSON.parse(JSON.stringify(text.slice(first >= 0xdc00 && first <= 0xdfff ? from + 1 : from)));
}

const isMedia = (part: { readonly type: string }): part is ImagePart | FilePart => part.type === "image" || part.type === "file";

export const hasMedia = ({ content }: UserMessage | ToolResultMessage): boolean => typeof content !== "string" && content.some(isMedia);

/** The note in place of what is left out. */
export const leftOut = (what: string): string => `[${what} left out to fit the model's window]`;

/** The result with at most so many units of text, images and files as notes. */
export function cutResult(message: ToolResultMessage, units: number): ToolResultMessage {
  const notes: string[] = [];
  const texts: string[] = [];
  let room = units;
  let length = 0;
  for (const part of partsOf<ResultPart>(message.content)) {
    if (isMedia(part)) notes.push(leftOut(describe(part)));
    else {
      const whole = textOfPart(part);
      length += whole.length;
      const head = headOf(whole, lengthWithin(whole, room));
      if (room > 0) texts.push(head);
      room -= unitsOfText(head);
    }
  }
  const text = texts.join("\n");
  const kept = headOf(text, lengthWithin(text, units));
  if (length > kept.length) notes.unshift(leftOut(`${length - kept.length} characters`));
  return { ...message, content: [...(kept === "" ? [] : [kept]), ...notes].join("\n") };
}

const textOfPart = (part: Exclude<ResultPart, ImagePart | FilePart>): string =>
  part.type === "text" ? part.text : JSON.stringify(part.value satisfies Json);

/** The message with a note for each image and file. */
export function withoutMedia(message: UserMessage): UserMessage {
  const content = partsOf<UserPart>(message.content).map(
    (part): UserPart => (isMedia(part) ? { type: "text", text: leftOut(describe(part)) } : part),
  );
  return { ...message, content };
}

/** Bytes that are shown of each text file at least. */
const shownBytesMin = 2_000;

/** The message with so many units less of its text files, the largest first: only their beginnings are shown. The message itself where it has none. */
export function shortenFiles(message: UserMessage, over: number): UserMessage {
  const content = [...partsOf<UserPart>(message.content)];
  const files = content.flatMap((part, place) => {
    const shown = part.type === "file" && part.source.blob !== undefined && isTextType(part.mediaType) ? unitsOfMedia(part) : 0;
    return shown > shownBytesMin ? [{ place, shown }] : [];
  });
  let left = over;
  for (const { place, shown } of files.sort((a, b) => b.shown - a.shown || a.place - b.place)) {
    if (left <= 0) break;
    const part = content[place] as FilePart;
    const less = Math.max(shownBytesMin, Math.floor(shown - left));
    content[place] = { ...part, source: { ...part.source, shownBytes: less } as FilePart["source"] };
    left -= shown - less;
  }
  return left === over ? message : { ...message, content };
}

const describe = (part: ImagePart | FilePart): string =>
  part.type === "file" && part.name !== undefined
    ? `the file ${headOf(part.name, 100)}`
    : `${part.type === "image" ? "an image" : "a file"}, ${part.mediaType},`;
