import { AgentError } from "../errors.ts";
import type { FilePart, ImagePart } from "../message/content.ts";
import type { Message, ToolResultMessage } from "../message/message.ts";
import { isTextType } from "../message/text-media-type.ts";
import type { Blob } from "../ports/blob-store.ts";
import type { ModelProvider } from "../ports/model-provider.ts";

type Load = (key: string) => Promise<Blob | undefined>;

/** True when a part of the message names a blob in place of its bytes. */
export function hasStoredMedia(message: Message): boolean {
  if (message.role === "notice" || message.role === "assistant" || typeof message.content === "string") return false;
  return message.content.some((part) => isMedia(part) && part.source.blob !== undefined);
}

/** The images and files that a person or a tool has given. */
export function mediaOf(message: Message): readonly (ImagePart | FilePart)[] {
  if (message.role === "notice" || message.role === "assistant" || typeof message.content === "string") return none;
  return message.content.some(isMedia) ? (message.content as readonly Part[]).filter(isMedia) : none;
}

type Part = Exclude<ToolResultMessage["content"], string>[number];

const none: readonly (ImagePart | FilePart)[] = [];

/** Bytes of a stored text that a model is shown, from its beginning, where its part names no other number. */
const shownTextBytesMax = 128 * 1024;

/** Base64 characters that are kept between requests, of all sessions of a process. */
export const keptMediaMax: number = 32 * 1024 * 1024;

/**
 * Messages with their bytes filled in, least recently used first. A message gives the same object each time, so a provider can use the encoded form that it
 * has kept. The total is limited, because the texts are large and the blob store has them too.
 */
const kept = new Map<Message, Message>();
let keptCharacters = 0;

function keep(message: Message, whole: Message): void {
  const size = mediaLength(whole);
  if (size > keptMediaMax) return;
  forget(message);
  kept.set(message, whole);
  keptCharacters += size;
  for (const oldest of kept.keys()) {
    if (keptCharacters <= keptMediaMax) return;
    forget(oldest);
  }
}

function forget(message: Message): void {
  const whole = kept.get(message);
  if (!whole) return;
  kept.delete(message);
  keptCharacters -= mediaLength(whole);
}

/** Base64 characters of a message's images and files. */
function mediaLength(message: Message): number {
  if (message.role === "notice" || message.role === "assistant" || typeof message.content === "string") return 0;
  return message.content.reduce((sum, part) => sum + (isMedia(part) ? (part.source.data?.length ?? 0) : 0), 0);
}

/** Wraps the provider: the bytes of stored images and files are read and filled in when a request is sent. */
export function withStoredMedia(provider: ModelProvider, load: Load): ModelProvider {
  return {
    name: provider.name,
    defaultModel: provider.defaultModel,
    capabilities: (model) => provider.capabilities(model),
    async *stream(request, io) {
      const messages: Message[] = [];
      const loaded: Loaded = new Map();
      for (const message of request.messages) messages.push(hasStoredMedia(message) ? await resolve(message, load, loaded) : message);
      yield* provider.stream({ ...request, messages }, io);
    },
  };
}

/** What a request has loaded so far: the Base64 text of what is shown, by key and bound. One blob at a time is in memory as a whole. */
type Loaded = Map<string, string>;

async function resolve(message: Message, load: Load, loaded: Loaded): Promise<Message> {
  const known = kept.get(message);
  if (known) {
    keep(message, known);
    return known;
  }
  if (message.role === "notice" || message.role === "assistant" || typeof message.content === "string") return message;
  const content: Part[] = [];
  for (const part of message.content) content.push(isMedia(part) ? await withBytes(part, load, loaded) : part);
  const whole = { ...message, content } as Message;
  keep(message, whole);
  return whole;
}

async function withBytes(part: ImagePart | FilePart, load: Load, loaded: Loaded): Promise<Part> {
  const key = part.source.blob;
  if (key === undefined) return part;
  const max = part.type === "file" && isTextType(part.mediaType) ? (part.source.shownBytes ?? shownTextBytesMax) : Number.POSITIVE_INFINITY;
  const known = loaded.get(`${max} ${key}`);
  if (known !== undefined) return { ...part, source: { data: known } };
  const blob = await load(key);
  if (!blob)
    throw new AgentError("BLOB_NOT_FOUND", { message: `The ${part.type} \`${key}\` is missing from the blob store.`, details: { key } });
  const data = base64(shownBytes(blob.bytes, max));
  loaded.set(`${max} ${key}`, data);
  return { ...part, source: { data } };
}

/** The bytes that the model is shown: of a long text its beginning, which parts no character, and a note. */
function shownBytes(bytes: Uint8Array, max: number): Uint8Array {
  if (bytes.length <= max) return bytes;
  let end = max;
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end--;
  const note = new TextEncoder().encode(`\n[Only the first ${end} of ${bytes.length} bytes of this file are shown.]`);
  const shown = new Uint8Array(end + note.length);
  shown.set(bytes.subarray(0, end));
  shown.set(note, end);
  return shown;
}

/** Bytes of a file that models are shown; `undefined`: not known. */
export function shownBytesOf({ mediaType, source }: FilePart): number | undefined {
  if (source.blob === undefined || source.sizeBytes === undefined) return undefined;
  return isTextType(mediaType) ? Math.min(source.sizeBytes, source.shownBytes ?? shownTextBytesMax) : source.sizeBytes;
}

export const isMedia = (part: { readonly type: string }): part is ImagePart | FilePart => part.type === "image" || part.type === "file";

/** Encodes with `toBase64` of the platform (Node.js 25, browsers), which is ten times as fast; without it in pieces, because a function takes a limited number of arguments. */
function base64(bytes: Uint8Array & { toBase64?(): string }): string {
  if (bytes.toBase64) return bytes.toBase64();
  const pieces: string[] = [];
  for (let from = 0; from < bytes.length; from += 0x8000) pieces.push(String.fromCharCode(...bytes.subarray(from, from + 0x8000)));
  return btoa(pieces.join(""));
}
