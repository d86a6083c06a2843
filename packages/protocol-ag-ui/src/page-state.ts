/*
 * Owns: where the log has the state that a thread shares with its page: whole, in the details of a result, and, where the host lets the agent read the state
 * of a page, in a part of the user's message that the page does not show.
 */
import { type Json, type JsonObject, type Message, pathOf, type SessionSnapshot, type UserMessage } from "@loopwright/core/protocol";
import { jsonDiff } from "./json-diff.ts";

const partKey = "page_state";

/** The state that a tool of the server sets, by `details: { state }`. */
export function stateOfResult(details: Json | undefined): Json | undefined {
  return isObject(details) ? details["state"] : undefined;
}

/** The user's message with the state of the page, for the model to read. */
export function withPageState({ role, content }: UserMessage, state: Json): UserMessage {
  const parts = typeof content === "string" ? [{ type: "text", text: content } as const] : content;
  return { role, content: [...parts, { type: "json", value: { [partKey]: state } }] };
}

/** What the user wrote. */
export function withoutPageState(message: UserMessage): UserMessage {
  if (typeof message.content === "string" || pageStateOf(message) === undefined) return message;
  const parts = message.content.slice(0, -1);
  const [first] = parts;
  return { role: "user", content: parts.length === 1 && first?.type === "text" ? first.text : parts };
}

/** The state that the thread has, which the last message or result with one has set. */
export function threadState(session: SessionSnapshot): Json | undefined {
  const states = pathOf(session).map(({ message }) => stateIn(message));
  return states.findLast((state) => state !== undefined);
}

/** True for the state of a page that the thread does not have yet. An empty state is none. */
export function isNewState(session: SessionSnapshot | undefined, state: Json | undefined): state is Json {
  const known = (session && threadState(session)) ?? {};
  return state !== undefined && state !== null && jsonDiff(known, state).length > 0;
}

function stateIn(message: Message): Json | undefined {
  if (message.role === "tool_result") return stateOfResult(message.details);
  return message.role === "user" ? pageStateOf(message) : undefined;
}

function pageStateOf({ content }: UserMessage): Json | undefined {
  const last = typeof content === "string" ? undefined : content.at(-1);
  return last?.type === "json" && isObject(last.value) ? last.value[partKey] : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
