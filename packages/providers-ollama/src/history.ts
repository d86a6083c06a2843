import {
  AgentError,
  type AssistantMessage,
  type FilePart,
  isTextType,
  type JsonObject,
  type MediaSource,
  type Message,
  type ResultPart,
  type UserPart,
} from "@loopwright/core";
import { errorResultText } from "@loopwright/provider-kit";
import { vendor } from "./options.ts";

/** One message of the wire. */
export type WireMessage = JsonObject & { readonly role: "system" | "user" | "assistant" | "tool"; readonly content: string };

/** What is made of one message once and kept as long as the message lives. */
interface Rendered {
  readonly text: string;
  readonly images: readonly string[];
}

/**
 * The messages as `/api/chat` wants them. Neighbouring words of the user are one message, because many models' templates want
 * turns to alternate; for the same reason a notice is a marked text of the user and no second system message. Calls have the
 * call key for their id, which is unique where the server's own are absent or repeat.
 * @throws AgentError MODEL_UNSUPPORTED for images where the model has no vision, and for media that cannot be sent.
 */
export function historyOf(messages: readonly Message[], { vision }: { readonly vision: boolean }): readonly WireMessage[] {
  const wire: WireMessage[] = [];
  /** The user's messages of the current turn. */
  let turn: Rendered[] = [];
  let calls = new Map<string, { readonly key: string; readonly name: string }>();

  const endTurn = (): void => {
    if (turn.length > 0) wire.push(userMessage(turn));
    turn = [];
  };

  for (const message of messages) {
    if (message.role === "assistant") {
      const rendered = renderAssistant(message);
      calls = new Map(message.content.flatMap((part) => (part.type === "tool_call" ? callEntries(part) : [])));
      if (!rendered) continue;
      endTurn();
      wire.push(rendered);
      continue;
    }
    const rendered = render(message);
    if (rendered.images.length > 0 && !vision) {
      throw new AgentError("MODEL_UNSUPPORTED", {
        message: "The conversation holds an image, and the model is not known to have vision.",
        fix: "Choose a model with vision, or pass `capabilities: { vision: true }` if this one has it.",
      });
    }
    if (message.role !== "tool_result") {
      if (rendered.text.trim() !== "" || rendered.images.length > 0) turn.push(rendered);
      continue;
    }
    endTurn();
    const call = calls.get(message.callKey ?? message.toolCallId) ?? calls.get(message.toolCallId);
    const name = message.toolName ?? call?.name;
    wire.push({
      role: "tool",
      content: rendered.text,
      ...(name === undefined ? {} : { tool_name: name }),
      tool_call_id: call?.key ?? message.toolCallId,
      ...(rendered.images.length === 0 ? {} : { images: rendered.images }),
    });
  }
  endTurn();
  if (wire.length === 0) wire.push({ role: "user", content: "(empty message)" });
  return wire;
}

function callEntries(part: {
  readonly id: string;
  readonly callKey: string;
  readonly name: string;
}): [string, { key: string; name: string }][] {
  const entry = { key: part.callKey, name: part.name };
  return [
    [part.id, entry],
    [part.callKey, entry],
  ];
}

function userMessage(turn: readonly Rendered[]): WireMessage {
  const images = turn.flatMap((each) => each.images);
  const content = turn.flatMap((each) => (each.text === "" ? [] : [each.text])).join("\n\n");
  return { role: "user", content, ...(images.length === 0 ? {} : { images }) };
}

const rendered = new WeakMap<Message, Rendered>();

function render(message: Exclude<Message, AssistantMessage>): Rendered {
  let made = rendered.get(message);
  if (!made) {
    made =
      message.role === "notice" ? { text: `<system-notice>\n${message.text}\n</system-notice>`, images: [] } : contentOf(message.content);
    if (message.role === "tool_result" && message.isError) made = { ...made, text: errorResultText(made.text) };
    rendered.set(message, made);
  }
  return made;
}

function contentOf(content: string | readonly (UserPart | ResultPart)[]): Rendered {
  if (typeof content === "string") return { text: content, images: [] };
  const texts: string[] = [];
  const images: string[] = [];
  for (const part of content) {
    if (part.type === "text") texts.push(part.text);
    else if (part.type === "json") texts.push(JSON.stringify(part.value));
    else if (part.type === "image") images.push(bytesOf(part.source, "an image"));
    else texts.push(fileText(part));
  }
  return { text: texts.filter((text) => text !== "").join("\n"), images };
}

/** The server takes bytes only and fetches nothing. */
function bytesOf(source: MediaSource, what: string): string {
  if (source.data !== undefined) return source.data;
  throw new AgentError("MODEL_UNSUPPORTED", { message: `Ollama does not fetch ${what} by its address.`, fix: "Send its bytes." });
}

function fileText({ mediaType, name, source }: FilePart): string {
  if (!isTextType(mediaType)) {
    throw new AgentError("MODEL_UNSUPPORTED", { message: `Ollama does not take a file of type ${mediaType}.`, fix: "Send it as text." });
  }
  const bytes = Uint8Array.from(atob(bytesOf(source, "a file")), (char) => char.charCodeAt(0));
  return `<file${name === undefined ? "" : ` name=${JSON.stringify(name)}`}>\n${new TextDecoder().decode(bytes)}\n</file>`;
}

const renderedAssistants = new WeakMap<AssistantMessage, WireMessage | { readonly role: undefined }>();

/** `undefined` for an answer of which nothing can be sent. */
function renderAssistant(message: AssistantMessage): WireMessage | undefined {
  let made = renderedAssistants.get(message);
  if (!made) {
    made = assistantMessage(message) ?? { role: undefined };
    renderedAssistants.set(message, made);
  }
  return made.role === undefined ? undefined : made;
}

function assistantMessage(message: AssistantMessage): WireMessage | undefined {
  let content = "";
  let thinking = "";
  const calls: JsonObject[] = [];
  for (const part of message.content) {
    if (part.type === "text") content += part.text;
    // Another vendor's thinking is dropped.
    else if (part.type === "thinking" && part.opaque?.vendor === vendor) thinking += part.text;
    else if (part.type === "tool_call") {
      calls.push({ type: "function", id: part.callKey, function: { index: calls.length, name: part.name, arguments: part.args } });
    }
  }
  if (content === "" && calls.length === 0) return undefined;
  return { role: "assistant", content, ...(thinking === "" ? {} : { thinking }), ...(calls.length === 0 ? {} : { tool_calls: calls }) };
}
