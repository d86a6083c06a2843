import {
  type AssistantMessage,
  type Json,
  type JsonObject,
  type Message,
  type Opaque,
  partsOf,
  type ResultPart,
  systemText,
  type ToolCallPart,
  type ToolResultMessage,
  type UserPart,
} from "@loopwright/core";
import type { ModelRequest, ToolSpec } from "@loopwright/core/ports";
import { effortOf, errorResultText } from "@loopwright/provider-kit";
import { argumentsOf, type CallIds, createCallIds, responsesCallIds, toolNameOf } from "./call-ids.ts";
import { type ConversationWriter, createConversations } from "./conversation.ts";
import { fileDataOf, fileNameOf, fileTextOf, imageUrlOf } from "./media.ts";
import { knownEffort, modelOf, refuseReasoning } from "./models.ts";
import type { OpenAiSettings } from "./options.ts";
import { createRenderCache, emptyOutput, noticeText, type RenderCache } from "./request-cache.ts";
import { isStrictSchema, outputSchemaOf, parametersOf } from "./strict-schema.ts";
import { createToolLists } from "./tool-lists.ts";

/** Tag of vendor-opaque parts of this wire. */
export const responsesVendor = "openai-responses";

/** OpenAI refuses a smaller limit. @see https://platform.openai.com/docs/api-reference/responses/create (2026-11-21) */
const maxOutputTokensMin = 16;

/** The bodies of one server; keeps what was made of each message. */
export function createResponsesRequests(settings: OpenAiSettings): (request: ModelRequest) => JsonObject {
  const cache = createRenderCache<readonly JsonObject[]>();
  const inputOf = createConversations(() => createResponsesWriter(cache));
  const toolsOf = createToolLists(toolItem);
  return (request) => {
    const tools = settings.compat.tools && request.tools !== undefined ? toolsOf(request.tools) : [];
    return bodyOf(request, settings, { input: inputOf(request.messages), tools });
  };
}

interface Lists {
  readonly input: readonly Json[];
  readonly tools: readonly JsonObject[];
}

function bodyOf(request: ModelRequest, settings: OpenAiSettings, { input, tools }: Lists): JsonObject {
  const model = modelOf(request.model);
  // Nothing is kept by the vendor: the log is the session, and reasoning travels encrypted inside it.
  const body: Record<string, Json> = {
    model: request.model,
    input,
    stream: request.stream !== false,
    store: false,
  };
  const system = systemText(request.system);
  if (system !== undefined) body["instructions"] = system;
  if (model?.reasoning ?? true) body["include"] = ["reasoning.encrypted_content"];
  if (request.maxTokens !== undefined) body["max_output_tokens"] = Math.max(maxOutputTokensMin, request.maxTokens);
  if (request.temperature !== undefined && !model?.reasoning) body["temperature"] = request.temperature;
  addReasoning(body, request, settings);
  if (tools.length > 0) addTools(body, request, tools);
  if (request.output !== undefined) {
    const { name, schema } = request.output;
    body["text"] = { format: { type: "json_schema", name, schema: outputSchemaOf(schema), strict: isStrictSchema(schema) } };
  }
  if (request.cacheKey !== undefined && settings.compat.promptCacheKey) body["prompt_cache_key"] = request.cacheKey;
  return { ...body, ...request.vendorOptions };
}

function addReasoning(body: Record<string, Json>, request: ModelRequest, { reasoningSummary, compat }: OpenAiSettings): void {
  if (request.reasoning) refuseReasoning(request, compat.reasoning !== "none");
  else if (reasoningSummary === undefined || modelOf(request.model)?.reasoning === false) return;
  body["reasoning"] = {
    ...(request.reasoning ? { effort: knownEffort(request.model, effortOf(request.reasoning) ?? "medium") } : {}),
    ...(reasoningSummary === undefined ? {} : { summary: reasoningSummary }),
  };
}

const toolItem = ({ name, description, parameters }: ToolSpec): JsonObject => ({
  type: "function",
  name,
  description,
  parameters: parametersOf(parameters),
  // Always sent: this API treats a tool without `strict` as strict.
  strict: isStrictSchema(parameters),
});

function addTools(body: Record<string, Json>, request: ModelRequest, tools: readonly JsonObject[]): void {
  body["tools"] = tools;
  const choice = request.toolChoice;
  if (choice !== undefined) body["tool_choice"] = typeof choice === "object" ? { type: "function", name: choice.tool } : choice;
  if (request.parallelToolCalls !== undefined) body["parallel_tool_calls"] = request.parallelToolCalls;
}

function createResponsesWriter(cache: RenderCache<readonly JsonObject[]>): ConversationWriter {
  const ids = createCallIds(responsesCallIds);
  const customIds = new Set<string>();
  const items: JsonObject[] = [];
  const add = (message: Message): void => {
    switch (message.role) {
      case "user":
        items.push(...cache.get(message, "", () => [{ role: "user", content: contentOf(message.content) }]));
        break;
      case "notice":
        items.push({ role: "developer", content: noticeText(message) });
        break;
      case "assistant": {
        const callIds = ids.open(message);
        const made = cache.get(message, callIds.join(" "), () => itemsOf(message, callIds));
        for (const item of made) if (item["type"] === "custom_tool_call") customIds.add(String(item["call_id"]));
        items.push(...made);
        break;
      }
      case "tool_result":
        items.push(...resultOf(message, { ids, customIds, cache }));
        break;
      default:
        message satisfies never;
    }
  };
  return { items, add, closing: () => [] };
}

function contentOf(content: string | readonly UserPart[]): Json {
  const parts = partsOf<UserPart>(content).filter((part) => part.type !== "text" || part.text.trim() !== "");
  const [first] = parts;
  if (parts.length === 0) return "(empty message)";
  return parts.length === 1 && first?.type === "text" ? first.text : parts.map(contentPart);
}

function contentPart(part: UserPart): JsonObject {
  switch (part.type) {
    case "text":
      return { type: "input_text", text: part.text };
    case "json":
      return { type: "input_text", text: JSON.stringify(part.value) };
    case "image":
      return { type: "input_image", image_url: imageUrlOf(part), detail: "auto" };
    case "file": {
      const text = fileTextOf(part);
      if (text !== undefined) return { type: "input_text", text };
      if (part.source.url !== undefined) return { type: "input_file", file_url: part.source.url };
      return { type: "input_file", filename: fileNameOf(part), file_data: fileDataOf(part) };
    }
    default:
      return part satisfies never;
  }
}

/** The items of an answer, in the order the model wrote them. Reasoning at the very end is left out: the API refuses it without what followed from it. */
function itemsOf(message: AssistantMessage, callIds: readonly string[]): readonly JsonObject[] {
  const items: JsonObject[] = [];
  let call = 0;
  for (const part of message.content) {
    if (part.type === "text") {
      if (part.text === "") continue;
      const phase = ownData(part.opaque)?.["phase"];
      items.push({ role: "assistant", content: part.text, ...(typeof phase === "string" ? { phase } : {}) });
    } else if (part.type === "tool_call") items.push(callItem(part, callIds[call++] ?? ""));
    else if (part.type === "thinking" || part.type === "opaque") {
      const item = ownData(part.type === "opaque" ? part : part.opaque);
      if (item !== undefined && isReplayable(item)) items.push(item);
    }
  }
  while (items.at(-1)?.["type"] === "reasoning") items.pop();
  return items;
}

/** Without its encrypted content a reasoning item is only a name of something the vendor has not stored. */
function isReplayable(item: JsonObject): boolean {
  return item["type"] !== "reasoning" || typeof item["encrypted_content"] === "string";
}

function ownData(opaque: Opaque | undefined): JsonObject | undefined {
  if (opaque?.vendor !== responsesVendor) return undefined;
  const { data } = opaque;
  return typeof data === "object" && data !== null && !Array.isArray(data) ? (data as JsonObject) : undefined;
}

function callItem(part: ToolCallPart, callId: string): JsonObject {
  const kept = ownData(part.opaque) ?? {};
  if (kept["custom"] === true) {
    return { type: "custom_tool_call", call_id: callId, name: part.name, input: String(part.args["input"] ?? "") };
  }
  return { type: "function_call", call_id: callId, name: toolNameOf(part.name), arguments: argumentsOf(part), ...kept };
}

function resultOf(
  message: ToolResultMessage,
  { ids, customIds, cache }: { ids: CallIds; customIds: ReadonlySet<string>; cache: RenderCache<readonly JsonObject[]> },
): readonly JsonObject[] {
  const callId = ids.of(message);
  const type = customIds.has(callId) ? "custom_tool_call_output" : "function_call_output";
  return cache.get(message, type + callId, () => [{ type, call_id: callId, output: outputOf(message) }]);
}

function outputOf({ content, isError = false }: ToolResultMessage): Json {
  const parts = partsOf<ResultPart>(content).filter((part) => part.type !== "text" || part.text.trim() !== "");
  if (parts.every((part) => part.type === "text" || part.type === "json")) {
    const written = parts.map((part) => (part.type === "text" ? part.text : JSON.stringify(part.value))).join("\n");
    return isError ? errorResultText(written) : written === "" ? emptyOutput : written;
  }
  const items = parts.map(contentPart);
  return isError ? [{ type: "input_text", text: errorResultText("") }, ...items] : items;
}
