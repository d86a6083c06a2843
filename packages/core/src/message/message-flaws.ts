import type { AssistantPart, ResultPart } from "./content.ts";
import type { AssistantMessage, Message, StopReason } from "./message.ts";

/** The first problem of a value, with its path; `undefined`: none. */
export type Flaw = string | undefined;

type Fields = { readonly [field: string]: unknown };

export const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
const isFilled = (value: unknown): value is string => typeof value === "string" && value !== "";
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const stopReasons: ReadonlySet<unknown> = new Set<StopReason>(["stop", "length", "tool_calls", "aborted", "error"]);

/** What is wrong with a value that is to be a message of any role. */
export function messageFlaw(value: unknown): Flaw {
  if (!isFields(value)) return "it is no message";
  const { role, content, text, stopReason } = value;
  switch (role) {
    case "user":
      return typeof content === "string" ? undefined : contentFlaw(content);
    case "tool_result":
      return toolResultFlaw(value);
    case "notice":
      return typeof text === "string" ? undefined : "`text` is no text";
    case "assistant":
      if (!Array.isArray(content)) return "`content` is no list of parts";
      return firstFlaw(content, assistantPartFlaw) ?? (stopReasons.has(stopReason) ? undefined : "`stopReason` is missing");
    default:
      return "`role` is none of user, assistant, tool_result and notice";
  }
}

export function toolResultFlaw(value: unknown, flawOf: (part: unknown) => Flaw = partFlaw): Flaw {
  if (!isFields(value) || value["role"] !== "tool_result") return "it is no message of role `tool_result`";
  const { toolCallId, callKey, content, isError } = value;
  if (!isFilled(toolCallId)) return "`toolCallId` is missing";
  if (callKey !== undefined && !isFilled(callKey)) return "`callKey` is no text";
  if (isError !== undefined && typeof isError !== "boolean") return "`isError` is neither true nor false";
  return typeof content === "string" ? undefined : contentFlaw(content, flawOf);
}

/** The first problem of content from people and tools. */
export function contentFlaw(content: unknown, flawOf: (part: unknown) => Flaw = partFlaw): Flaw {
  return Array.isArray(content) ? firstFlaw(content, flawOf) : "`content` is neither text nor a list of parts";
}

export function partFlaw(part: unknown): Flaw {
  if (!isFields(part)) return "it is no object";
  switch (part["type"]) {
    case "text":
      return typeof part["text"] === "string" ? undefined : "`text` is no text";
    case "json":
      return "value" in part ? undefined : "`value` is missing";
    case "file":
      if (part["name"] !== undefined && typeof part["name"] !== "string") return "`name` is no text";
      return mediaFlaw(part);
    case "image":
      return mediaFlaw(part);
    default:
      return "`type` is none of text, image, file and json";
  }
}

function assistantPartFlaw(part: unknown): Flaw {
  if (!isFields(part)) return "it is no object";
  const { type, text, id, name, args, callKey, vendor, opaque } = part;
  if (opaque !== undefined && !(isFields(opaque) && typeof opaque["vendor"] === "string")) return "`opaque` names no vendor";
  switch (type) {
    case "text":
    case "thinking":
      return typeof text === "string" ? undefined : "`text` is no text";
    case "tool_call":
      if (typeof id !== "string" || typeof name !== "string" || typeof callKey !== "string") return "`id`, `callKey` or `name` is missing";
      return isFields(args) ? undefined : "`args` is no object";
    case "opaque":
      return typeof vendor === "string" && "data" in part ? undefined : "`vendor` or `data` is missing";
    case "image":
      return mediaFlaw(part);
    default:
      return "`type` is none of text, thinking, tool_call, image and opaque";
  }
}

function mediaFlaw({ mediaType, source }: Fields): Flaw {
  if (!isFilled(mediaType) || !mediaType.includes("/")) return "`mediaType` is missing";
  const given = isFields(source) ? ["data", "url", "blob"].filter((field) => source[field] !== undefined) : [];
  const [only] = given;
  if (!isFields(source) || only === undefined || given.length > 1) return "`source` needs exactly one of data, url and blob";
  if (!isFilled(source[only])) return `\`source.${only}\` is no text`;
  const counted = ["sizeBytes", "shownBytes"].find((field) => source[field] !== undefined && !isCount(source[field]));
  return counted === undefined ? undefined : `\`source.${counted}\` is no whole number from 0 on`;
}

export function firstFlaw(items: readonly unknown[], flawOf: (item: unknown) => Flaw): Flaw {
  for (const [place, item] of items.entries()) {
    const flaw = flawOf(item);
    if (flaw !== undefined) return `item ${place}: ${flaw}`;
  }
  return undefined;
}

/**
 * The message itself if it is sound, otherwise its readable parts: earlier builds recorded values unchecked. Never throws; if nothing is readable, the
 * message states this.
 */
export function soundMessage(value: Message): Message {
  if (messageFlaw(value) === undefined) return value;
  const raw = value as unknown;
  const { role, content, text, ...rest } = isFields(raw) ? raw : {};
  const given: readonly unknown[] = typeof content === "string" ? [{ type: "text", text: content }] : Array.isArray(content) ? content : [];
  if (role === "user") return { role, content: orUnreadable(given.filter((part) => partFlaw(part) === undefined) as ResultPart[]) };
  if (role === "tool_result" && isFilled(rest["toolCallId"])) {
    const kept = given.filter((part) => partFlaw(part) === undefined) as ResultPart[];
    return {
      role,
      toolCallId: rest["toolCallId"],
      ...(isFilled(rest["callKey"]) ? { callKey: rest["callKey"] } : {}),
      content: orUnreadable(kept),
    };
  }
  if (role === "assistant") {
    const parts = given.filter((part) => assistantPartFlaw(part) === undefined) as AssistantPart[];
    const stopReason = stopReasons.has(rest["stopReason"]) ? (rest["stopReason"] as StopReason) : "stop";
    return { ...(rest as object as AssistantMessage), role, content: parts.length === 0 ? [unreadable] : parts, stopReason };
  }
  const words = [text, ...given.map((part) => (isFields(part) ? part["text"] : undefined))].filter(isFilled);
  return { role: "notice", text: words.length === 0 ? unreadable.text : words.join("") };
}

const unreadable = { type: "text", text: "(A message that cannot be read.)" } as const;

const orUnreadable = (parts: readonly ResultPart[]): readonly ResultPart[] => (parts.length === 0 ? [unreadable] : parts);
