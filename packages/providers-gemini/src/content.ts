import {
  AgentError,
  type AssistantMessage,
  type FilePart,
  type ImagePart,
  isTextType,
  type Json,
  type JsonObject,
  type Opaque,
  partsOf,
  type ResultPart,
  type ToolCallPart,
  type ToolResultMessage,
  type UserPart,
} from "@loopwright/core";
import { vendor } from "./options.ts";

/** A part of the wire. */
export type WirePart = JsonObject;

/** The parts of a user's message, without empty text. @throws AgentError MODEL_UNSUPPORTED for a blob whose bytes were not loaded. */
export function userParts(content: string | readonly UserPart[]): readonly WirePart[] {
  return partsOf<UserPart>(content).flatMap((part): readonly WirePart[] => {
    switch (part.type) {
      case "text":
        return textParts(part.text);
      case "json":
        return [{ text: JSON.stringify(part.value) }];
      case "image":
      case "file":
        return [mediaPart(part)];
      default:
        return part satisfies never;
    }
  });
}

function textParts(text: string): readonly WirePart[] {
  return text.trim() === "" ? [] : [{ text }];
}

/** A text file is sent as text: of its types the vendor takes few as files. */
function mediaPart(part: ImagePart | FilePart): WirePart {
  const { mediaType, source } = part;
  if (part.type === "file" && source.data !== undefined && isTextType(mediaType)) {
    const bytes = Uint8Array.from(atob(source.data), (char) => char.charCodeAt(0));
    return { text: `${part.name ?? "file"}:\n${new TextDecoder().decode(bytes)}` };
  }
  if (source.data !== undefined) return { inlineData: { mimeType: mediaType, data: source.data } };
  if (source.url !== undefined) return { fileData: { mimeType: mediaType, fileUri: source.url } };
  throw new AgentError("MODEL_UNSUPPORTED", {
    message: "Gemini does not take a reference to the blob store.",
    fix: "Resolve it to its bytes first.",
  });
}

/** An assistant message in the vendor's form, before the ids of its calls are settled. */
export interface AssistantParts {
  readonly parts: readonly WirePart[];
  /** Where the calls are among the parts, in order. */
  readonly calls: readonly { readonly at: number; readonly part: ToolCallPart }[];
}

/** Own opaque parts are verbatim and signatures on their very part; thinking without a signature of this wire and foreign opaque parts are left out. */
export function assistantParts(message: AssistantMessage): AssistantParts {
  const parts: WirePart[] = [];
  const calls: { at: number; part: ToolCallPart }[] = [];
  for (const part of message.content) {
    switch (part.type) {
      case "text": {
        const signature = signatureOf(part.opaque);
        if (part.text !== "" || signature) parts.push({ text: part.text, ...signature });
        break;
      }
      case "thinking": {
        const signature = signatureOf(part.opaque);
        if (signature) parts.push({ text: part.text, thought: true, ...signature });
        break;
      }
      case "tool_call":
        calls.push({ at: parts.length, part });
        parts.push({ functionCall: { name: cleanName(part.name), args: part.args }, ...signatureOf(part.opaque) });
        break;
      case "opaque": {
        const whole = part.vendor === vendor && isObject(part.data) ? part.data["part"] : undefined;
        if (isObject(whole)) parts.push(whole);
        break;
      }
      case "image":
        parts.push(mediaPart(part));
        break;
      default:
        part satisfies never;
    }
  }
  return { parts, calls };
}

/** The name as the vendor takes it: another vendor's model may have called what no tool is called. */
function cleanName(name: string): string {
  const clean = name.replace(/[^\w.:-]/g, "_");
  return (/^[a-zA-Z_]/.test(clean) ? clean : `_${clean}`).slice(0, 64);
}

function signatureOf(opaque: Opaque | undefined): { readonly thoughtSignature: string } | undefined {
  if (opaque?.vendor !== vendor || !isObject(opaque.data)) return undefined;
  const signature = opaque.data["thoughtSignature"];
  return typeof signature === "string" ? { thoughtSignature: signature } : undefined;
}

/** A tool result: what the response holds, and the media beside it. */
export interface ResultParts {
  readonly response: JsonObject;
  readonly media: readonly WirePart[];
}

/** @see https://ai.google.dev/api/caching#FunctionResponse keys `output` and `error` (2026-11-21) */
export function resultParts(message: ToolResultMessage): ResultParts {
  const parts = partsOf<ResultPart>(message.content);
  const media = parts.flatMap((part) => (part.type === "image" || part.type === "file" ? [mediaPart(part)] : []));
  const written = parts.filter((part) => part.type === "text" || part.type === "json");
  const only = written.length === 1 ? written[0] : undefined;
  const output: Json =
    only?.type === "json" ? only.value : written.map((part) => (part.type === "text" ? part.text : JSON.stringify(part.value))).join("");
  return { response: message.isError ? { error: output } : { output }, media };
}

/** True for a JSON object, as opposed to a list or a plain value. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
