/*
 * Owns: whether what a stranger sent has the shape of an input. Does not own: whether it fits the session (the driver says).
 * Unknown fields are let through: a newer client may send more.
 */
import { AgentError } from "../errors.ts";
import { findJsonFlaw, jsonDepthMax } from "../message/json.ts";
import type { ToolResultMessage, UserMessage } from "../message/message.ts";
import type { ExecuteInput } from "./execute.ts";

type Fields = { readonly [field: string]: unknown };

/** What is wrong with a value, said of a place in the input; `undefined`: nothing. */
type Flaw = string | undefined;

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
const isFilled = (value: unknown): value is string => typeof value === "string" && value !== "";

/** True for a message that a person may send. */
export function isUserMessage(value: unknown): value is UserMessage {
  return jsonFlaw(value) === undefined && userMessageFlaw(value) === undefined;
}

/** True for a message that answers a call. */
export function isToolResultMessage(value: unknown): value is ToolResultMessage {
  return jsonFlaw(value) === undefined && toolResultFlaw(value) === undefined;
}

/** The input, told apart and checked by shape. @throws AgentError INPUT_INVALID which says where it is wrong. */
export function checkExecuteInput(value: unknown): ExecuteInput {
  const flaw = jsonFlaw(value) ?? inputFlaw(value);
  if (flaw === undefined) return value as ExecuteInput;
  throw new AgentError("INPUT_INVALID", {
    message: `The input cannot be used: ${flaw}.`,
    fix: "Send text, a user message, a list of tool results, or { regenerate: <message id> }.",
  });
}

function jsonFlaw(value: unknown): Flaw {
  const flaw = findJsonFlaw(value);
  if (flaw === undefined) return undefined;
  if (flaw === "too_deep") return `it nests deeper than ${jsonDepthMax} levels`;
  return flaw === "forbidden_key" ? "it has a forbidden key" : "it is not JSON";
}

function inputFlaw(value: unknown): Flaw {
  if (typeof value === "string") return value.trim() === "" ? "the text is empty" : undefined;
  if (Array.isArray(value)) return value.length === 0 ? "the list of results is empty" : firstFlaw(value, toolResultFlaw);
  if (isObject(value) && "regenerate" in value) return isFilled(value["regenerate"]) ? undefined : "`regenerate` is no message id";
  return userMessageFlaw(value);
}

function userMessageFlaw(value: unknown): Flaw {
  if (!isObject(value) || value["role"] !== "user") return "it is neither text, nor a user message, nor a list of tool results";
  const { content } = value;
  if (typeof content === "string") return content.trim() === "" ? "the message is empty" : undefined;
  return Array.isArray(content) && content.length === 0 ? "the message is empty" : contentFlaw(content);
}

function toolResultFlaw(value: unknown): Flaw {
  if (!isObject(value) || value["role"] !== "tool_result") return "it is no message of role `tool_result`";
  const { toolCallId, callKey, content, isError } = value;
  if (!isFilled(toolCallId)) return "`toolCallId` is missing";
  if (callKey !== undefined && !isFilled(callKey)) return "`callKey` is no text";
  if (isError !== undefined && typeof isError !== "boolean") return "`isError` is neither true nor false";
  return typeof content === "string" ? undefined : contentFlaw(content);
}

function contentFlaw(content: unknown): Flaw {
  return Array.isArray(content) ? firstFlaw(content, partFlaw) : "`content` is neither text nor a list of parts";
}

function partFlaw(part: unknown): Flaw {
  if (!isObject(part)) return "it is no object";
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

function mediaFlaw({ mediaType, source }: Fields): Flaw {
  if (!isFilled(mediaType) || !mediaType.includes("/")) return "`mediaType` is missing";
  const given = isObject(source) ? ["data", "url", "blob"].filter((field) => source[field] !== undefined) : [];
  const [only] = given;
  if (!isObject(source) || only === undefined || given.length > 1) return "`source` needs exactly one of data, url and blob";
  if (!isFilled(source[only])) return `\`source.${only}\` is no text`;
  if (only === "url" && !/^https:\/\//i.test(String(source[only]))) return "`source.url` is no https address";
  return only === "data" && String(source[only]).startsWith("data:")
    ? "`source.data` is to be base64 without its `data:` prefix"
    : undefined;
}

function firstFlaw(items: readonly unknown[], flawOf: (item: unknown) => Flaw): Flaw {
  for (const [place, item] of items.entries()) {
    const flaw = flawOf(item);
    if (flaw !== undefined) return `item ${place}: ${flaw}`;
  }
  return undefined;
}
