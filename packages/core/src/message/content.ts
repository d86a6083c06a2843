import type { Json, JsonObject } from "./json.ts";

/** Data that only its vendor understands (signatures, encrypted reasoning, server-tool blocks): kept verbatim, replayed verbatim to that vendor, dropped as a unit for any other. */
export interface Opaque {
  /** The protocol that may get it back, for example `anthropic`, `openai-responses`, `gemini`. */
  readonly vendor: string;
  readonly data: Json;
}

/** Where the bytes of an image or a file are: exactly one of the three. */
export type MediaSource =
  | { readonly data: string; readonly url?: never; readonly blob?: never } /* base64, no line breaks, no `data:` prefix */
  | { readonly url: string; readonly data?: never; readonly blob?: never } /* https, fetched by the vendor */
  | {
      /** Key in the session's blob store. */
      readonly blob: string;
      readonly data?: never;
      readonly url?: never;
      /** Absent: not known. */
      readonly sizeBytes?: number;
      /** Models are shown at most so many bytes of a text file, from its beginning. Default: 131,072. */
      readonly shownBytes?: number;
    };

export interface TextPart {
  readonly type: "text";
  readonly text: string;
  readonly opaque?: Opaque;
}

export interface ImagePart {
  readonly type: "image";
  /** For example `image/png`. */
  readonly mediaType: string;
  readonly source: MediaSource;
}

export interface FilePart {
  readonly type: "file";
  readonly mediaType: string;
  readonly name?: string;
  readonly source: MediaSource;
}

/** Structured data; a vendor without such a part gets it as JSON text. */
export interface JsonPart {
  readonly type: "json";
  readonly value: Json;
}

export interface ThinkingPart {
  readonly type: "thinking";
  /** What the vendor shows of the reasoning; may be empty if only an opaque form is sent. */
  readonly text: string;
  readonly opaque?: Opaque;
}

/** A vendor's block that has no other form here, at its place in the message. */
export interface OpaquePart extends Opaque {
  readonly type: "opaque";
}

/** Why the arguments of a call cannot be used. The raw text is kept in `argsText`. */
export type ArgsProblem = "invalid_json" | "truncated" | "not_an_object" | "too_deep" | "forbidden_key";

/** A tool call as the model asked for it. */
export interface ToolCallPart {
  readonly type: "tool_call";
  /** `<runId>.<turn>.<index>`: our key, unique in the session. */
  readonly callKey: string;
  /** The vendor's id; the call key if the vendor sent no id or one that is already in this message. Unique in the message. */
  readonly id: string;
  readonly name: string;
  /** Parsed arguments; `{}` when `problem` is set. */
  readonly args: JsonObject;
  /** The raw argument text, only beside `problem`. */
  readonly argsText?: string;
  readonly problem?: ArgsProblem;
  /** The agent's data policy kept the arguments out of the store: `args` is `{}`. */
  readonly notStored?: true;
  readonly opaque?: Opaque;
}

export type UserPart = TextPart | ImagePart | FilePart | JsonPart;
export type AssistantPart = TextPart | ThinkingPart | ToolCallPart | ImagePart | OpaquePart;
export type ResultPart = TextPart | ImagePart | FilePart | JsonPart;
