import {
  AgentError,
  type AssistantPart,
  callsOf,
  type Json,
  type JsonObject,
  type Message,
  partsOf,
  systemText,
  type UserPart,
} from "@loopwright/core";
import type { ModelRequest, ToolChoice } from "@loopwright/core/ports";
import { capabilitiesOf } from "./models.ts";
import { vendor, vendorName } from "./options.ts";

/** The request body. Pure; what is made of a message is kept, so that a turn costs what is new in it. */
export function bodyOf(request: ModelRequest): JsonObject {
  const { model, system, tools, toolChoice, parallelToolCalls, maxTokens, temperature, reasoning, output, cacheKey, vendorOptions } =
    request;
  const hasTools = tools !== undefined && tools.length > 0;
  if (!capabilitiesOf(model).vision && request.messages.some(hasImage)) {
    throw new AgentError("MODEL_UNSUPPORTED", { message: `${vendorName}'s ${model} takes no images.` });
  }
  const prompt = systemText(system);
  return {
    model,
    stream: request.stream !== false,
    ...(prompt === undefined ? {} : { system: prompt }),
    messages: messagesOf(request.messages),
    ...(hasTools ? { tools: tools.map(({ name, description, parameters }) => ({ name, description, schema: parameters })) } : {}),
    ...(hasTools && toolChoice !== undefined ? { tool_choice: choiceOf(toolChoice) } : {}),
    ...(hasTools && parallelToolCalls !== undefined ? { parallel_calls: parallelToolCalls } : {}),
    ...(reasoning === undefined ? {} : { thinking: { ...reasoning } }),
    ...(output === undefined ? {} : { answer: { name: output.name, schema: output.schema } }),
    ...(cacheKey === undefined ? {} : { cache_key: cacheKey }),
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...vendorOptions,
  };
}

/**
 * The turns of the wire. Acme refuses two user turns in a row, so what stands side by side becomes one. A result names its call by the call's id or by
 * its key; on the wire it is the id. An answer of which nothing is left is not sent.
 */
function messagesOf(messages: readonly Message[]): readonly JsonObject[] {
  const wire: (JsonObject & { readonly content: readonly JsonObject[] })[] = [];
  let ids = new Map<string, string>();
  for (const message of messages) {
    if (message.role === "assistant") ids = new Map(callsOf(message).map(({ callKey, id }) => [callKey, id]));
    const turn = wireOf(message);
    const last = wire.at(-1);
    if (message.role === "tool_result") wire.push({ ...turn, call: ids.get(message.toolCallId) ?? message.toolCallId });
    else if (turn.role === "user" && last?.["role"] === "user")
      wire[wire.length - 1] = { ...last, content: [...last.content, ...turn.content] };
    else if (turn.content.length > 0) wire.push(turn);
  }
  return wire;
}

type Turn = JsonObject & { readonly role: string; readonly content: readonly JsonObject[] };

const made = new WeakMap<Message, Turn>();

function wireOf(message: Message): Turn {
  const before = made.get(message);
  if (before) return before;
  const now = translate(message);
  made.set(message, now);
  return now;
}

function translate(message: Message): Turn {
  switch (message.role) {
    case "user":
      return { role: "user", content: contentOf(message.content, "(empty message)") };
    case "assistant":
      return { role: "assistant", content: message.content.flatMap(assistantPart) };
    case "tool_result":
      return { role: "tool", content: contentOf(message.content, "(no output)"), ...(message.isError ? { failed: true } : {}) };
    case "notice":
      // Acme has no system turn between others: marked, so that the model does not take it for the user's own words.
      return { role: "user", content: [{ text: `<notice>\n${message.text}\n</notice>` }] };
    default:
      return message satisfies never;
  }
}

/** Acme takes no empty text. */
function contentOf(content: string | readonly UserPart[], instead: string): readonly JsonObject[] {
  const parts = partsOf<UserPart>(content).filter((part) => part.type !== "text" || part.text.trim() !== "");
  return parts.length > 0 ? parts.map(userPart) : [{ text: instead }];
}

function userPart(part: UserPart): JsonObject {
  if (part.type === "text") return { text: part.text };
  if (part.type === "json") return { text: JSON.stringify(part.value) };
  if (part.source.data === undefined) throw new AgentError("MODEL_UNSUPPORTED", { message: `${vendorName} takes no links to files.` });
  return { [part.type]: part.source.data, media_type: part.mediaType };
}

/** Thinking goes back with Acme's own seal on it, or not at all. */
function assistantPart(part: AssistantPart): readonly JsonObject[] {
  switch (part.type) {
    case "text":
      return part.text.trim() === "" ? [] : [{ text: part.text }];
    case "thinking":
      return part.opaque?.vendor === vendor ? [{ thought: part.text, seal: part.opaque.data }] : [];
    case "tool_call":
      return [{ call: part.id, name: part.name, arguments: part.args }];
    case "image":
    case "opaque":
      return [];
    default:
      return part satisfies never;
  }
}

function hasImage(message: Message): boolean {
  return message.role === "user" && typeof message.content !== "string" && message.content.some(({ type }) => type === "image");
}

function choiceOf(choice: ToolChoice): Json {
  return typeof choice === "string" ? choice : { name: choice.tool };
}
