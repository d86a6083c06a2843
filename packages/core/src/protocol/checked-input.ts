/*
 * Owns: the shape of an input, checked once: in the process that gets it, or in the HTTP server that receives it. Does not own: whether the input fits the
 * session (the driver decides). A newer client may send fields that this build does not know: they are left out.
 */
import { AgentError } from "../errors.ts";
import { findJsonFlaw, jsonDepthMax } from "../message/json.ts";
import type { Message, ToolResultMessage, UserMessage } from "../message/message.ts";
import { contentFlaw, type Flaw, firstFlaw, isFields, messageFlaw, partFlaw, toolResultFlaw } from "../message/message-flaws.ts";
import type { ExecuteInput } from "./execute-input.ts";

/** An input of the right shape with the fields that this build knows. Only `checkInput` makes one, and nothing checks it again. */
export class CheckedInput {
  readonly value: ExecuteInput;
  /** Makes a second class of the same shape not assignable. */
  readonly #isChecked = true;

  /** @internal */
  constructor(value: ExecuteInput) {
    this.value = value;
  }

  /** The results of calls; `undefined` for every other input. */
  get results(): readonly ToolResultMessage[] | undefined {
    return Array.isArray(this.value) ? (this.value as readonly ToolResultMessage[]) : undefined;
  }

  /** The messages of the input; none for text and `{ regenerate }`. */
  get messages(): readonly Message[] {
    if (typeof this.value === "string" || "regenerate" in this.value) return [];
    return "role" in this.value ? [this.value] : this.value;
  }

  static is(value: unknown): value is CheckedInput {
    return typeof value === "object" && value !== null && #isChecked in value;
  }
}

export interface CheckInputOptions {
  /** The value comes from a body whose depth, keys and numbers have been checked with `findJsonFlaw`. Default false. */
  readonly isScanned?: boolean;
}

const isFilled = (value: unknown): value is string => typeof value === "string" && value !== "";

/** True for a message that a person may send. */
export function isUserMessage(value: unknown): value is UserMessage {
  return jsonFlaw(value) === undefined && userMessageFlaw(value) === undefined;
}

/** True for a message that answers a call. */
export function isToolResultMessage(value: unknown): value is ToolResultMessage {
  return jsonFlaw(value) === undefined && resultFlaw(value) === undefined;
}

/** Checks the input; a checked input is returned unchanged. @throws AgentError INPUT_INVALID that names the first flaw */
export function checkInput(value: unknown, { isScanned = false }: CheckInputOptions = {}): CheckedInput {
  if (CheckedInput.is(value)) return value;
  const flaw = (isScanned ? undefined : jsonFlaw(value)) ?? inputFlaw(value);
  if (flaw === undefined) return new CheckedInput(knownFields(value as ExecuteInput));
  throw new AgentError("INPUT_INVALID", {
    message: `The input cannot be used: ${flaw}.`,
    fix: "Send text, a user message, a list of tool results, or { regenerate: <message id> }.",
  });
}

/** Checks the messages that a session begins with. @throws AgentError INPUT_INVALID that names the first flaw */
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
  if (Array.isArray(value)) return value.length === 0 ? "the list of results is empty" : firstFlaw(value, resultFlaw);
  if (isFields(value) && "regenerate" in value) return isFilled(value["regenerate"]) ? undefined : "`regenerate` is no message id";
  return userMessageFlaw(value);
}

function userMessageFlaw(value: unknown): Flaw {
  if (!isFields(value) || value["role"] !== "user") return "it is neither text, nor a user message, nor a list of tool results";
  const { content } = value;
  if (typeof content === "string") return content.trim() === "" ? "the message is empty" : undefined;
  return Array.isArray(content) && content.length === 0 ? "the message is empty" : contentFlaw(content, inputPartFlaw);
}

const outcomes: ReadonlySet<unknown> = new Set(["ok", "error", "interrupted", "denied", "expired", "aborted"]);

function resultFlaw(value: unknown): Flaw {
  const flaw = toolResultFlaw(value, inputPartFlaw);
  if (flaw !== undefined || !isFields(value)) return flaw;
  const { toolName, outcome, durationMs } = value;
  if (toolName !== undefined && typeof toolName !== "string") return "`toolName` is no text";
  if (durationMs !== undefined && typeof durationMs !== "number") return "`durationMs` is no number";
  return outcome === undefined || outcomes.has(outcome)
    ? undefined
    : "`outcome` is none of ok, error, interrupted, denied, expired and aborted";
}

/** The first problem of a part, also media that vendors refuse. */
function inputPartFlaw(part: unknown): Flaw {
  const flaw = partFlaw(part);
  if (flaw !== undefined || !isFields(part)) return flaw;
  const { source, opaque } = part;
  if (opaque !== undefined && !(isFields(opaque) && typeof opaque["vendor"] === "string" && "data" in opaque))
    return "`opaque` names no vendor or has no data";
  if (!isFields(source)) return undefined;
  if (typeof source["url"] === "string" && !/^https:\/\//i.test(source["url"])) return "`source.url` is no https address";
  return String(source["data"]).startsWith("data:") ? "`source.data` is to be base64 without its `data:` prefix" : undefined;
}

/** Known fields, by role and by type of part. */
const fields: { readonly [kind: string]: readonly string[] } = {
  user: ["role", "content"],
  tool_result: ["role", "toolCallId", "callKey", "toolName", "content", "isError", "outcome", "details", "durationMs"],
  text: ["type", "text", "opaque"],
  image: ["type", "mediaType", "source"],
  file: ["type", "mediaType", "name", "source"],
  json: ["type", "value"],
};
const sources: readonly string[] = ["data", "url", "blob", "sizeBytes", "shownBytes"];

function knownFields(input: ExecuteInput): ExecuteInput {
  if (typeof input === "string") return input;
  if (Array.isArray(input)) return sameOr(input, input.map(knownMessage));
  return "regenerate" in input ? picked(input, ["regenerate"]) : knownMessage(input as UserMessage);
}

function knownMessage<M extends UserMessage | ToolResultMessage>(message: M): M {
  const known = picked(message, fields[message.role]);
  if (typeof known.content === "string") return known;
  const content = sameOr(known.content, known.content.map(knownPart));
  return content === known.content ? known : { ...known, content };
}

function knownPart<Part extends UserMessage["content"][number] & object>(part: Part): Part {
  const known = picked(part, fields[part.type]);
  if (!("source" in known)) return known;
  const source = picked(known.source, sources);
  return source === known.source ? known : { ...known, source };
}

/** The value without members of other names; the same value if it has none. */
function picked<Value extends object>(value: Value, names: readonly string[] = []): Value {
  const entries = Object.entries(value);
  const kept = entries.filter(([name]) => names.includes(name));
  return kept.length === entries.length ? value : (Object.fromEntries(kept) as Value);
}

const sameOr = <Item>(before: readonly Item[], after: readonly Item[]): readonly Item[] =>
  after.every((item, at) => item === before[at]) ? before : after;
