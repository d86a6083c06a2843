/*
 * Owns: whether what a stranger sent has the shape of an input. Does not own: whether it fits the session (the driver says).
 * Unknown fields are let through: a newer client may send more.
 */
import { AgentError } from "../errors.ts";
import { findJsonFlaw, jsonDepthMax } from "../message/json.ts";
import type { Message, ToolResultMessage, UserMessage } from "../message/message.ts";
import { contentFlaw, type Flaw, firstFlaw, isFields, messageFlaw, partFlaw, toolResultFlaw } from "../message/sound-message.ts";
import type { ExecuteInput } from "./execute.ts";

const isFilled = (value: unknown): value is string => typeof value === "string" && value !== "";

/** True for a message that a person may send. */
export function isUserMessage(value: unknown): value is UserMessage {
  return jsonFlaw(value) === undefined && userMessageFlaw(value) === undefined;
}

/** True for a message that answers a call. */
export function isToolResultMessage(value: unknown): value is ToolResultMessage {
  return jsonFlaw(value) === undefined && toolResultFlaw(value, inputPartFlaw) === undefined;
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

/** The messages that a session is to begin with, checked by shape. @throws AgentError INPUT_INVALID which says where they are wrong. */
export function checkContext(value: unknown): readonly Message[] {
  const flaw = jsonFlaw(value) ?? (Array.isArray(value) ? firstFlaw(value, messageFlaw) : "it is no list of messages");
  if (flaw === undefined) return value as readonly Message[];
  throw new AgentError("INPUT_INVALID", {
    message: `The context cannot be used: ${flaw}.`,
    fix: "Send messages of role user, assistant, tool_result and notice; the content of an assistant is a list of parts.",
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
  if (Array.isArray(value))
    return value.length === 0 ? "the list of results is empty" : firstFlaw(value, (item) => toolResultFlaw(item, inputPartFlaw));
  if (isFields(value) && "regenerate" in value) return isFilled(value["regenerate"]) ? undefined : "`regenerate` is no message id";
  return userMessageFlaw(value);
}

function userMessageFlaw(value: unknown): Flaw {
  if (!isFields(value) || value["role"] !== "user") return "it is neither text, nor a user message, nor a list of tool results";
  const { content } = value;
  if (typeof content === "string") return content.trim() === "" ? "the message is empty" : undefined;
  return Array.isArray(content) && content.length === 0 ? "the message is empty" : contentFlaw(content, inputPartFlaw);
}

/** What a vendor refuses of media, beside their shape. */
function inputPartFlaw(part: unknown): Flaw {
  const flaw = partFlaw(part);
  const source = isFields(part) ? part["source"] : undefined;
  if (flaw !== undefined || !isFields(source)) return flaw;
  if (typeof source["url"] === "string" && !/^https:\/\//i.test(source["url"])) return "`source.url` is no https address";
  return String(source["data"]).startsWith("data:") ? "`source.data` is to be base64 without its `data:` prefix" : undefined;
}
