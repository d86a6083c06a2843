import {
  AgentError,
  type AssistantMessage,
  type Json,
  type JsonObject,
  type Message,
  partsOf,
  type ResultPart,
  systemText,
  type ToolResultMessage,
  type UserMessage,
  type UserPart,
} from "@loopwright/core";
import type { ModelRequest, ToolSpec } from "@loopwright/core/ports";
import { effortOf, errorResultText } from "@loopwright/provider-kit";
import { argumentsOf, chatCallIds, createCallIds, nineCallIds, toolNameOf } from "./call-ids.ts";
import type { OpenAiCompat } from "./compat.ts";
import { type ConversationWriter, createConversations } from "./conversation.ts";
import { fileDataOf, fileNameOf, fileTextOf, imageUrlOf } from "./media.ts";
import { knownEffort, modelOf, refuseReasoning } from "./models.ts";
import { createRenderCache, emptyOutput, noticeText, type RenderCache } from "./request-cache.ts";
import { isStrictSchema, outputSchemaOf, parametersOf } from "./strict-schema.ts";
import { createToolLists } from "./tool-lists.ts";

/** Tag of vendor-opaque parts of this wire. */
export const chatVendor = "openai-chat";

/** The bodies of one server; keeps what was made of each message. */
export function createChatRequests(compat: OpenAiCompat): (request: ModelRequest) => JsonObject {
  const cache = createRenderCache<readonly JsonObject[]>();
  const itemsOf = createConversations(() => createChatWriter(compat, cache));
  const toolsOf = createToolLists((spec) => toolItem(spec, compat));
  return (request) => {
    const system = systemOf(request, compat);
    const messages = itemsOf(request.messages, system === undefined ? [] : [{ role: compat.systemRole, content: system }]);
    const tools = compat.tools && request.tools !== undefined ? toolsOf(request.tools) : [];
    return bodyOf(request, compat, { messages, tools });
  };
}

interface Lists {
  readonly messages: readonly Json[];
  readonly tools: readonly JsonObject[];
}

function bodyOf(request: ModelRequest, compat: OpenAiCompat, { messages, tools }: Lists): JsonObject {
  const model = modelOf(request.model);
  const streamed = request.stream !== false;
  const body: Record<string, Json> = { model: request.model, messages, stream: streamed };
  if (streamed && compat.streamOptions) body["stream_options"] = { include_usage: true };
  if (request.maxTokens !== undefined) body[compat.maxTokensField] = request.maxTokens;
  if (request.temperature !== undefined && !model?.reasoning) body["temperature"] = request.temperature;
  if (tools.length > 0) addTools(body, request, { compat, tools });
  addReasoning(body, request, compat);
  if (request.output !== undefined) {
    const schema = outputSchemaOf(request.output.schema);
    body["response_format"] =
      compat.structuredOutput === "json_object"
        ? { type: "json_object" }
        : { type: "json_schema", json_schema: { name: request.output.name, schema, strict: isStrictSchema(request.output.schema) } };
  }
  if (request.cacheKey !== undefined && compat.promptCacheKey) body["prompt_cache_key"] = request.cacheKey;
  return { ...body, ...request.vendorOptions };
}

const toolItem = ({ name, description, parameters }: ToolSpec, compat: OpenAiCompat): JsonObject => ({
  type: "function",
  function: {
    name,
    description,
    parameters: parametersOf(parameters),
    ...(compat.strictTools && isStrictSchema(parameters) ? { strict: true } : {}),
  },
});

interface ShownTools extends Pick<Lists, "tools"> {
  readonly compat: OpenAiCompat;
}

function addTools(body: Record<string, Json>, request: ModelRequest, { compat, tools }: ShownTools): void {
  body["tools"] = tools;
  const choice = request.toolChoice;
  if (choice !== undefined) {
    body["tool_choice"] =
      typeof choice === "object"
        ? { type: "function", function: { name: choice.tool } }
        : choice === "required"
          ? compat.requiredToolChoice
          : choice;
  }
  const { parallelToolCalls } = request;
  if (parallelToolCalls === false && !compat.parallelToolCalls) {
    throw new AgentError("MODEL_UNSUPPORTED", {
      message: `The server of ${request.model} cannot be kept to one tool call at a time.`,
      fix: "Leave `parallelToolCalls` out; `limits.parallelMax: 1` runs the calls one by one.",
    });
  }
  if (parallelToolCalls !== undefined && compat.parallelToolCalls) body["parallel_tool_calls"] = parallelToolCalls;
}

function addReasoning(body: Record<string, Json>, request: ModelRequest, compat: OpenAiCompat): void {
  const { reasoning } = request;
  if (!reasoning) return;
  const { budgetTokens } = reasoning;
  refuseReasoning(request, compat.reasoning !== "none");
  const effort = effortOf(reasoning) ?? "medium";
  switch (compat.reasoning) {
    case "none":
      return;
    case "thinking":
      body["thinking"] = { type: "enabled" };
      return;
    case "reasoning":
      body["reasoning"] = budgetTokens === undefined ? { effort } : { max_tokens: budgetTokens };
      return;
    case "reasoning_effort":
      body["reasoning_effort"] = knownEffort(request.model, effort);
      return;
    default:
      compat.reasoning satisfies never;
  }
}

function createChatWriter(compat: OpenAiCompat, cache: RenderCache<readonly JsonObject[]>): ConversationWriter {
  const ids = createCallIds(compat.callIds === "nine" ? nineCallIds : chatCallIds);
  const items: JsonObject[] = [];
  /** Images of tool results: a tool's message holds text alone, so they follow the last result of the turn. */
  let waiting: JsonObject[] = [];
  const closing = (): readonly JsonObject[] => (waiting.length > 0 && compat.userAfterTool ? [{ role: "user", content: waiting }] : []);
  const add = (message: Message): void => {
    if (message.role !== "tool_result") {
      items.push(...closing());
      waiting = [];
    }
    switch (message.role) {
      case "user":
        for (const rendered of cache.get(message, "", () => [userMessage(message)])) addUser(items, rendered, compat);
        break;
      case "notice":
        addNotice(items, noticeText(message), compat);
        break;
      case "assistant": {
        const callIds = ids.open(message);
        items.push(...cache.get(message, callIds.join(" "), () => assistantMessages(message, callIds, compat)));
        break;
      }
      case "tool_result": {
        const id = ids.of(message);
        const [result, ...images] = cache.get(message, id, () => resultMessages(message, id));
        if (result !== undefined) items.push(result);
        waiting.push(...images);
        break;
      }
      default:
        message satisfies never;
    }
  };
  return { items, add, closing };
}

function systemOf({ system: parts, output }: ModelRequest, compat: OpenAiCompat): string | undefined {
  const system = systemText(parts);
  if (output === undefined || compat.structuredOutput !== "json_object") return system;
  const wish = `Answer with JSON alone, of this JSON Schema:\n${JSON.stringify(outputSchemaOf(output.schema))}`;
  return system ? `${system}\n\n${wish}` : wish;
}

/** Adds a user message, joined with the one before or parted from a tool's result where the server wants that. */
function addUser(messages: JsonObject[], message: JsonObject, compat: OpenAiCompat): void {
  const last = messages.at(-1);
  if (!compat.userAfterTool && last?.["role"] === "tool") messages.push({ role: "assistant", content: "(results received)" });
  if (compat.userAfterUser || last?.["role"] !== "user") messages.push(message);
  else messages[messages.length - 1] = { role: "user", content: [...contentParts(last["content"]), ...contentParts(message["content"])] };
}

function addNotice(messages: JsonObject[], text: string, compat: OpenAiCompat): void {
  const last = messages.at(-1);
  if (compat.notices === "system") messages.push({ role: compat.systemRole, content: text });
  else if (!compat.userAfterTool && last?.["role"] === "tool") {
    messages[messages.length - 1] = { ...last, content: `${String(last["content"])}\n\n${text}` };
  } else addUser(messages, { role: "user", content: text }, compat);
}

function contentParts(content: Json | undefined): readonly Json[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : Array.isArray(content) ? content : [];
}

function userMessage(message: UserMessage): JsonObject {
  const parts = partsOf<UserPart>(message.content).filter((part) => part.type !== "text" || part.text.trim() !== "");
  const [first] = parts;
  if (parts.length === 0) return { role: "user", content: "(empty message)" };
  if (parts.length === 1 && first?.type === "text") return { role: "user", content: first.text };
  return { role: "user", content: parts.map(contentPart) };
}

function contentPart(part: UserPart): JsonObject {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "json":
      return { type: "text", text: JSON.stringify(part.value) };
    case "image":
      return { type: "image_url", image_url: { url: imageUrlOf(part) } };
    case "file": {
      const text = fileTextOf(part);
      if (text !== undefined) return { type: "text", text };
      return { type: "file", file: { filename: fileNameOf(part), file_data: fileDataOf(part) } };
    }
    default:
      return part satisfies never;
  }
}

/** Empty for an answer without text and calls: one of reasoning alone, or one that was stopped before its first word. */
function assistantMessages(message: AssistantMessage, callIds: readonly string[], compat: OpenAiCompat): readonly JsonObject[] {
  let text = "";
  const calls: JsonObject[] = [];
  const reasoning: JsonObject = {};
  for (const part of message.content) {
    if (part.type === "text") text += part.text;
    else if (part.type === "tool_call") calls.push(callOf(part, callIds[calls.length] ?? ""));
    else if (part.type === "thinking" && part.opaque?.vendor === chatVendor)
      Object.assign(reasoning, replayOf(part.opaque.data, part.text, compat));
    else if (part.type === "opaque" && part.vendor === chatVendor) Object.assign(reasoning, replayOf(part.data, "", compat));
  }
  if (text === "" && calls.length === 0) return [];
  return [
    {
      role: "assistant",
      content: text === "" ? null : text,
      ...reasoning,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ];
}

function callOf(part: Extract<AssistantMessage["content"][number], { type: "tool_call" }>, id: string): JsonObject {
  const kept = part.opaque?.vendor === chatVendor ? part.opaque.data : undefined;
  const extra = isObject(kept) ? kept : {};
  if (extra["custom"] === true) return { id, type: "custom", custom: { name: part.name, input: String(part.args["input"] ?? "") } };
  return { id, type: "function", function: { name: toolNameOf(part.name), arguments: argumentsOf(part) }, ...extra };
}

/** Reasoning as far as the server wants it back. */
function replayOf(data: Json, text: string, compat: OpenAiCompat): JsonObject {
  if (!isObject(data) || compat.reasoningReplay === "none") return {};
  const { field, details } = data;
  if (compat.reasoningReplay === "details" && details !== undefined) return { reasoning_details: details };
  // Mistral's reasoning comes inside the content, which is no field of its own.
  return typeof field === "string" && field !== "content" && text !== "" ? { [field]: text } : {};
}

/** The tool's message, then the images that have to follow it as the user's. */
function resultMessages(message: ToolResultMessage, id: string): readonly JsonObject[] {
  const texts: string[] = [];
  const images: JsonObject[] = [];
  for (const part of partsOf<ResultPart>(message.content)) {
    if (part.type === "text") texts.push(part.text);
    else if (part.type === "json") texts.push(JSON.stringify(part.value));
    else {
      const rendered = contentPart(part);
      if (rendered["type"] === "text") texts.push(String(rendered["text"]));
      else {
        texts.push(`(${part.type} of this result: in the message after the results)`);
        images.push({ type: "text", text: `From the result of call ${id}:` }, rendered);
      }
    }
  }
  const written = texts.join("\n");
  const content = message.isError ? errorResultText(written) : written === "" ? emptyOutput : written;
  return [{ role: "tool", tool_call_id: id, content }, ...images];
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
