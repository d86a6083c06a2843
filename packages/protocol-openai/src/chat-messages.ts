import type { AssistantMessage, Json, JsonObject, Message, ToolResultMessage, UserMessage, UserPart } from "@loopwright/core/protocol";
import { waitingCallOf } from "./call-ids.ts";
import { refuse } from "./openai-error.ts";

/** The messages of a request, as a session takes them. */
export interface ReadMessages {
  /** Texts of `system` and `developer` messages, joined with a blank line. */
  readonly systemPrompt: string | undefined;
  /** What came before the last answer, and that answer. */
  readonly history: readonly Message[];
  /** What is new: one message of the user, or results of the caller's tools. */
  readonly input: UserMessage | { readonly session: string; readonly results: readonly ToolResultMessage[] };
}

/** Reads the messages of a request. @throws RequestRefused that names the message */
export function readMessages(given: Json | undefined): ReadMessages {
  if (!Array.isArray(given) || given.length === 0) refuse("messages", "send a list with at least one message.");
  return conversationOf(given, "messages");
}

/** The same for messages from another field, which errors name. `undefined` in place of a message: it is left out. @throws RequestRefused */
export function conversationOf(given: readonly (Json | undefined)[], field: string): ReadMessages {
  const read = given.flatMap((message, at) => (message === undefined ? [] : [readMessage(message, `${field}[${at}]`)]));
  const systems = read.flatMap((message) => (message.role === "system" ? [message.text] : []));
  const talk = withWholeAnswers(read.filter((message): message is Talk => message.role !== "system"));
  const lastAnswer = talk.findLastIndex(({ role }) => role === "assistant");
  const fresh = talk.slice(lastAnswer + 1);
  if (fresh.length === 0) refuse(field, "the last message must be of the role `user` or `tool`.");
  return {
    systemPrompt: systems.length === 0 ? undefined : systems.join("\n\n"),
    history: talk.slice(0, lastAnswer + 1),
    input: inputOf(fresh, field),
  };
}

/** Parts of one answer that came as messages of their own, as one message. */
function withWholeAnswers(talk: readonly Talk[]): readonly Talk[] {
  const whole: Talk[] = [];
  for (const message of talk) {
    const last = whole.at(-1);
    if (last?.role === "assistant" && message.role === "assistant")
      whole[whole.length - 1] = answerOf([...last.content, ...message.content]);
    else whole.push(message);
  }
  return whole;
}

type Talk = UserMessage | AssistantMessage | ToolResultMessage;

function inputOf(fresh: readonly Talk[], field: string): ReadMessages["input"] {
  const results = fresh.filter((message) => message.role === "tool_result");
  const users = fresh.filter((message) => message.role === "user");
  if (results.length === 0) return oneOf(users);
  if (users.length > 0) refuse(field, "send the results of the calls alone, and what the user writes then after the answer to them.");
  const calls = results.map(({ toolCallId }) => waitingCallOf(toolCallId));
  const [first] = calls;
  if (!first || calls.some((call) => call?.session !== first.session))
    refuse(field, "the id of the call of each result must be the id of a call of one answer of this server.");
  return { session: first.session, results: results.map((result, at) => ({ ...result, toolCallId: calls[at]?.toolCallId ?? "" })) };
}

/** Several messages of the user in a row as one. */
function oneOf(users: readonly UserMessage[]): UserMessage {
  const [first] = users;
  if (first && users.length === 1) return first;
  return {
    role: "user",
    content: users.flatMap(({ content }) => (typeof content === "string" ? [{ type: "text", text: content }] : content)),
  };
}

type Read = Talk | { readonly role: "system"; readonly text: string };

function readMessage(given: Json, at: string): Read {
  if (!isObject(given)) refuse(at, "a message is an object.");
  const { role, content } = given;
  switch (role) {
    case "system":
    case "developer":
      return { role: "system", text: textOf(content, `${at}.content`) };
    case "user":
      return { role: "user", content: typeof content === "string" ? content : userParts(content, `${at}.content`) };
    case "assistant":
      return assistantOf(given, at);
    case "tool":
      if (typeof given["tool_call_id"] !== "string") refuse(`${at}.tool_call_id`, "name the call that this is the result of.");
      return { role: "tool_result", toolCallId: given["tool_call_id"], content: textOf(content, `${at}.content`) };
    default:
      return refuse(`${at}.role`, "use `system`, `developer`, `user`, `assistant` or `tool`.");
  }
}

function assistantOf(given: JsonObject, at: string): AssistantMessage {
  const { content = null, tool_calls: calls = null } = given;
  const text = content === null ? "" : textOf(content, `${at}.content`);
  if (calls !== null && !Array.isArray(calls)) refuse(`${at}.tool_calls`, "send a list.");
  const asked = (calls ?? []).map((call, index) => callOf(call, `${at}.tool_calls[${index}]`));
  return answerOf([...(text === "" ? [] : [{ type: "text", text } as const]), ...asked]);
}

const answerOf = (content: AssistantMessage["content"]): AssistantMessage => ({
  ...{ role: "assistant", content },
  stopReason: content.some(({ type }) => type === "tool_call") ? "tool_calls" : "stop",
});

function callOf(given: Json, at: string): Extract<AssistantMessage["content"][number], { type: "tool_call" }> {
  const { id, function: named } = isObject(given) ? given : {};
  const { name, arguments: text } = isObject(named) ? named : {};
  if (typeof id !== "string" || typeof name !== "string" || typeof text !== "string")
    return refuse(at, "a call has an `id` and a `function` with `name` and `arguments`.");
  return { type: "tool_call", id, callKey: id, name, args: argumentsOf(text, `${at}.function.arguments`) };
}

function argumentsOf(text: string, at: string): JsonObject {
  try {
    const args: Json = text.trim() === "" ? {} : JSON.parse(text);
    if (isObject(args)) return args;
  } catch {
    // Refused below, as what is no object is.
  }
  return refuse(at, "send the arguments as the text of a JSON object.");
}

/** Text, or parts of text alone. */
function textOf(content: Json | undefined, at: string): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) refuse(at, "send text, or a list of parts.");
  return content
    .map((part, index) => {
      if (!isObject(part) || part["type"] !== "text" || typeof part["text"] !== "string")
        return refuse(`${at}[${index}]`, "only parts of text are taken here.");
      return part["text"];
    })
    .join("");
}

function userParts(content: Json | undefined, at: string): readonly UserPart[] {
  if (!Array.isArray(content) || content.length === 0) refuse(at, "send text, or a list of parts.");
  return content.map((part, index) => userPart(part, `${at}[${index}]`));
}

function userPart(given: Json, at: string): UserPart {
  const part = isObject(given) ? given : {};
  const { type, text, image_url: image, file } = part;
  if (type === "text" && typeof text === "string") return { type: "text", text };
  if (type === "image_url" && isObject(image) && typeof image["url"] === "string") return imageOf(image["url"], `${at}.image_url.url`);
  if (type === "file" && isObject(file) && typeof file["file_data"] === "string") {
    const { mediaType, data } = dataOf(file["file_data"]) ?? refuse(`${at}.file.file_data`, "send a `data:` address with base64.");
    return { type: "file", mediaType, ...(typeof file["filename"] === "string" ? { name: file["filename"] } : {}), source: { data } };
  }
  return refuse(at, "use parts of the type `text`, `image_url`, or `file` with `file_data`.", "unsupported_value");
}

function imageOf(url: string, at: string): UserPart {
  const data = dataOf(url);
  if (data) return { type: "image", mediaType: data.mediaType, source: { data: data.data } };
  if (!url.startsWith("https://")) refuse(at, "send a `data:` address with base64, or one of https.");
  // What it is shows when the vendor loads it; vendors do not ask for the type of an address.
  return { type: "image", mediaType: "image/*", source: { url } };
}

const dataUrl = /^data:([a-z0-9.+/-]+);base64,([A-Za-z0-9+/=]+)$/i;

function dataOf(url: string): { readonly mediaType: string; readonly data: string } | undefined {
  const found = dataUrl.exec(url);
  return found ? { mediaType: (found[1] as string).toLowerCase(), data: found[2] as string } : undefined;
}

/** True for a JSON object that is no list. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
