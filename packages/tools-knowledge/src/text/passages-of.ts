import { AgentError, callsOf, type Message, textOf } from "@loopwright/core";
import type { KnowledgeLimits } from "../knowledge-limits.ts";
import type { DocumentKind } from "../store/knowledge-store.ts";
import { csvRows } from "./csv-rows.ts";
import { htmlText } from "./html-text.ts";
import { joinParts, splitText } from "./split-text.ts";

/** What is learned: a text, a file or a chat. */
export type DocumentContent =
  | {
      readonly text: string;
      /** A person pasted it into the conversation: its passages are put before the question, see `knowledgeHooks`. */
      readonly isPasted?: boolean;
    }
  | {
      readonly bytes: Uint8Array;
      /** `text/plain`, `text/markdown`, `text/html` or `text/csv`, with or without parameters. */
      readonly mediaType: string;
    }
  | {
      /** Oldest first. Only what people and the model wrote is learned. */
      readonly messages: readonly Message[];
    };

/** A document as passages. */
export interface ReadDocument {
  readonly kind: DocumentKind;
  readonly passages: readonly string[];
  /** The title that the content itself has. */
  readonly title?: string | undefined;
}

interface TextFile {
  readonly passages: readonly string[];
  readonly title?: string | undefined;
}

const readers: { readonly [mediaType: string]: (text: string, max: number) => TextFile } = {
  "text/plain": (text, max) => ({ passages: splitText(text, max) }),
  "text/markdown": (text, max) => ({ passages: splitText(text, max), title: /^# +(.{1,200})$/m.exec(text)?.[1]?.trim() }),
  "text/html": (html, max) => {
    const { text, title } = htmlText(html);
    return { passages: splitText(text, max), title: title?.slice(0, 200) };
  },
  "text/csv": (text, max) => ({ passages: joinParts(csvRows(text), max) }),
};

/** @throws AgentError MEDIA_TYPE_UNSUPPORTED, PAYLOAD_TOO_LARGE, INPUT_INVALID for what holds no text */
export function passagesOf(content: DocumentContent, limits: KnowledgeLimits): ReadDocument {
  const read = readContent(content, limits);
  if (read.passages.length > 0) return read;
  throw new AgentError("INPUT_INVALID", { message: "The document holds no text.", fix: "Add a document that holds some." });
}

function readContent(content: DocumentContent, limits: KnowledgeLimits): ReadDocument {
  const { passageMax } = limits;
  if ("text" in content) {
    const passages = splitText(withinText(content.text, limits), passageMax);
    return { kind: content.isPasted ? "pasted" : "text", passages };
  }
  if ("messages" in content) {
    const turns = content.messages.flatMap(spoken);
    withinText(turns.join("\n"), limits);
    return { kind: "chat", passages: joinParts(turns, passageMax) };
  }
  return { kind: "file", ...readFile(content, limits) };
}

function readFile({ bytes, mediaType }: { readonly bytes: Uint8Array; readonly mediaType: string }, limits: KnowledgeLimits): TextFile {
  const type = mediaType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const reader = Object.hasOwn(readers, type) ? readers[type] : undefined;
  if (!reader)
    throw new AgentError("MEDIA_TYPE_UNSUPPORTED", {
      message: `A file of the type ${JSON.stringify(type.slice(0, 100))} cannot be read as text.`,
      fix: `Convert it to one of: ${Object.keys(readers).join(", ")}.`,
    });
  if (bytes.length > limits.fileBytesMax) throw tooLarge("fileBytesMax", `${bytes.length} bytes`, limits.fileBytesMax);
  return reader(withinText(utf8Of(bytes), limits), limits.passageMax);
}

function utf8Of(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // The error below is the same for both: that of the decoder names no place.
  }
  throw new AgentError("INPUT_INVALID", { message: "The file is not text in UTF-8.", fix: "Convert it to UTF-8." });
}

function spoken(message: Message): readonly string[] {
  if (message.role !== "user" && message.role !== "assistant") return [];
  if (message.role === "assistant" && callsOf(message).length > 0 && textOf(message).trim() === "") return [];
  const text = textOf(message).trim();
  return text === "" ? [] : [`${message.role === "user" ? "User" : "Assistant"}: ${text}`];
}

function withinText(text: string, { textMax }: KnowledgeLimits): string {
  if (text.length > textMax) throw tooLarge("textMax", `${text.length} characters`, textMax);
  return text.isWellFormed() ? text : text.toWellFormed();
}

function tooLarge(limit: keyof KnowledgeLimits, size: string, max: number): AgentError {
  return new AgentError("PAYLOAD_TOO_LARGE", {
    message: `The document has ${size}; the most is ${max}.`,
    fix: `Divide it, or raise \`limits.${limit}\`.`,
    details: { limit, max },
  });
}
