import { AgentError, type Json, type JsonObject, systemText } from "@loopwright/core";
import type { ModelCapabilities, ModelRequest, SystemPart, ToolSpec } from "@loopwright/core/ports";
import { effortOf } from "@loopwright/provider-kit";
import type { Block } from "./content.ts";
import { historyOf, type WireMessage } from "./history.ts";
import { type AnthropicModel, modelOf } from "./models.ts";
import type { AnthropicOptions } from "./options.ts";
import { argumentsSchema, closedSchema } from "./schema.ts";

/** What of an instance goes into a request. */
export interface RequestContext extends Pick<AnthropicOptions, "cacheTtl" | "thinkingDisplay" | "serverTools" | "staleThinking"> {
  readonly capabilities: ModelCapabilities;
  readonly streaming: boolean;
}

/**
 * The body of `POST /v1/messages`.
 * @throws AgentError MODEL_UNSUPPORTED for what the model or the vendor does not take: images without vision, a forced tool
 * where thinking cannot be switched off, reasoning where there is none or no room for it.
 * @see https://platform.claude.com/docs/en/api/messages (2026-11-21)
 */
export function bodyOf(request: ModelRequest, context: RequestContext): JsonObject {
  const { capabilities } = context;
  const model = modelOf(request.model);
  const messages = historyOf(request.messages, { vision: capabilities.vision, systemInHistory: model.systemInHistory });
  const maxTokens = request.maxTokens ?? capabilities.outputTokensMax ?? model.outputTokensMax;
  const cacheControl = capabilities.promptCaching ? cacheControlOf(context) : undefined;
  const tools = toolsOf(request, context, messages);
  const choice = hasTools(request) && capabilities.tools ? toolChoiceOf(request, model) : choiceOfNone(tools, context);
  const thinking = thinkingOf(request, { model, maxTokens, messages, forced: isForced(choice), context });
  const config = outputConfigOf(request, { model, thinks: thinking?.["type"] === "adaptive" });
  return {
    model: request.model,
    max_tokens: maxTokens,
    ...(request.system?.length ? { system: systemBlocks(request.system, cacheControl) } : {}),
    messages: withMarker(messages, cacheControl),
    ...(tools.length > 0 ? { tools: tools.map((tool, at) => (at === tools.length - 1 ? marked(tool, cacheControl) : tool)) } : {}),
    ...(choice ? { tool_choice: choice } : {}),
    ...(thinking ? { thinking } : {}),
    ...(config ? { output_config: config } : {}),
    ...(mayHaveTemperature(request, model, thinking) ? { temperature: request.temperature } : {}),
    ...(context.streaming ? { stream: true } : {}),
    ...request.vendorOptions,
  };
}

/** One block of stable parts and one of the others, each with a marker: what only one session has does not spoil the cache of all. */
function systemBlocks(parts: readonly SystemPart[], cacheControl: JsonObject | undefined): readonly JsonObject[] {
  const texts = (["stable", "session"] as const).map((cache) => systemText(parts.filter((part) => part.cache === cache)));
  return texts.flatMap((text) => (text === undefined ? [] : [marked({ type: "text", text }, cacheControl)]));
}

function cacheControlOf({ cacheTtl }: RequestContext): JsonObject {
  return cacheTtl === "1h" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" };
}

function marked<T extends JsonObject>(block: T, cacheControl: JsonObject | undefined): T {
  return cacheControl ? { ...block, cache_control: cacheControl } : block;
}

/** The third marker: the last block of the second-to-last message. Sent whatever the size: a prefix under the model's minimum is not cached and no error. */
function withMarker(messages: readonly WireMessage[], cacheControl: JsonObject | undefined): readonly Json[] {
  const wire: readonly (JsonObject & WireMessage)[] = messages.map((message) => ({ ...message }));
  const at = wire.length - 2;
  const message = wire[at];
  if (!cacheControl || !message) return wire;
  const content: readonly Block[] = message.content.map((block, index) =>
    index === message.content.length - 1 ? marked(block, cacheControl) : block,
  );
  return wire.map((each, index) => (index === at ? { ...each, content } : each));
}

/**
 * The agent's tools and those the vendor runs. A request without tools whose history holds calls (the last turn of a limit, a
 * summary) names them at least: "Requests which include `tool_use` or `tool_result` blocks must define tools."
 */
function toolsOf(
  request: ModelRequest,
  { capabilities, serverTools = [] }: RequestContext,
  messages: readonly WireMessage[],
): readonly JsonObject[] {
  if (!capabilities.tools) return [];
  return [...(hasTools(request) ? request.tools.map(toolOf) : calledNames(messages).map(stubOf)), ...serverTools];
}

function hasTools(request: ModelRequest): request is ModelRequest & { readonly tools: readonly ToolSpec[] } {
  return request.tools !== undefined && request.tools.length > 0;
}

function toolOf({ name, description, parameters }: ToolSpec): JsonObject {
  return { name, ...(description.trim() === "" ? {} : { description }), input_schema: argumentsSchema(parameters) };
}

function calledNames(messages: readonly WireMessage[]): readonly string[] {
  const names = new Set<string>();
  for (const { content } of messages) for (const block of content) if (block.type === "tool_use") names.add(String(block["name"]));
  return [...names];
}

function stubOf(name: string): JsonObject {
  return { name, input_schema: { type: "object" } };
}

function toolChoiceOf({ toolChoice, parallelToolCalls }: ModelRequest, model: AnthropicModel): JsonObject | undefined {
  const single = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
  if (toolChoice === undefined) return parallelToolCalls === false ? { type: "auto", ...single } : undefined;
  if (toolChoice === "none") return { type: "none" };
  if (toolChoice === "auto") return { type: "auto", ...single };
  if (model.thinking === "always") {
    throw new AgentError("MODEL_UNSUPPORTED", {
      message: "The model cannot be made to call a tool: its thinking is always on.",
      fix: 'Let the model choose (`toolChoice: "auto"`) or use a model whose thinking can be switched off.',
    });
  }
  return toolChoice === "required" ? { type: "any", ...single } : { type: "tool", name: toolChoice.tool, ...single };
}

/** Tools that are only named are not to be called. */
function choiceOfNone(tools: readonly JsonObject[], { serverTools = [] }: RequestContext): JsonObject | undefined {
  return tools.length > serverTools.length ? { type: "none" } : undefined;
}

function isForced(choice: JsonObject | undefined): boolean {
  return choice?.["type"] === "any" || choice?.["type"] === "tool";
}

interface ThinkingContext {
  readonly model: AnthropicModel;
  readonly maxTokens: number;
  readonly messages: readonly WireMessage[];
  readonly forced: boolean;
  readonly context: RequestContext;
}

/** @see https://platform.claude.com/docs/en/build-with-claude/thinking (2026-11-21) */
function thinkingOf({ reasoning }: ModelRequest, { model, maxTokens, messages, forced, context }: ThinkingContext): JsonObject | undefined {
  const mode = model.thinking;
  if (reasoning && mode === "none") throw cannotThink("The request asks for reasoning, and the model is not known to think.");
  // "Thinking may not be enabled when tool_choice forces tool use."
  if (forced) return mode === "default" ? { type: "disabled" } : undefined;
  if (mode === "always" || mode === "default" || (mode === "adaptive" && reasoning)) {
    // The vendor's default is to omit the text.
    return {
      type: "adaptive",
      display: context.thinkingDisplay ?? "summarized",
      ...(dropsStaleThinking(model, context) ? { block_binding: { prefix_mismatch_behavior: "drop_block" } } : {}),
    };
  }
  if (mode !== "budget" || !reasoning || isUnthinkingToolTurn(messages)) return undefined;
  if (maxTokens <= budgetMin)
    throw cannotThink(`\`maxTokens: ${maxTokens}\` leaves no room for thinking, which takes ${budgetMin} tokens at least.`);
  const wanted = Math.max(budgetMin, reasoning.budgetTokens ?? budgets[reasoning.effort ?? "medium"]);
  return { type: "enabled", budget_tokens: Math.min(wanted, maxTokens - 1) };
}

const cannotThink = (message: string): AgentError =>
  new AgentError("MODEL_UNSUPPORTED", { message, fix: "Leave `reasoning` out, raise `maxTokens`, or choose another model." });

/** Else the vendor answers with 400: "The block is bound to a different conversation." @see https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/fix-bound-to-a-different-conversation (2026-11-21) */
function dropsStaleThinking(model: AnthropicModel, { staleThinking }: RequestContext): boolean {
  return model.bindsThinking === true && staleThinking !== "error";
}

/** The header that a body's members need, beside the betas that the caller asks for. */
export function betaHeaders(body: JsonObject, headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { thinking } = body;
  if (typeof thinking !== "object" || thinking === null || !("block_binding" in thinking)) return {};
  const own = Object.entries(headers).flatMap(([name, value]) => (name.toLowerCase() === "anthropic-beta" ? [value] : []));
  return { "anthropic-beta": [...own, "thinking-binding-controls-2026-08-01"].join(",") };
}

const budgetMin = 1_024;
const budgets = { minimal: budgetMin, low: 4_096, medium: 10_240, high: 32_000 } as const;

/** A tool loop that began without thinking (with another vendor, for example) cannot turn it on: the vendor expects a thinking block before the calls. */
function isUnthinkingToolTurn(messages: readonly WireMessage[]): boolean {
  const last = messages.findLast(({ role }) => role === "user");
  if (last?.content[0]?.type !== "tool_result") return false;
  const first = messages.findLast(({ role }) => role === "assistant")?.content[0]?.type;
  return first !== "thinking" && first !== "redacted_thinking";
}

/** @see https://platform.claude.com/docs/en/build-with-claude/effort (2026-11-21) */
function outputConfigOf(request: ModelRequest, { thinks }: { model: AnthropicModel; thinks: boolean }): JsonObject | undefined {
  const effort = thinks && request.reasoning ? effortOf(request.reasoning) : undefined;
  const { output } = request;
  if (effort === undefined && !output) return undefined;
  return {
    ...(effort === undefined ? {} : { effort: effort === "minimal" ? "low" : effort }),
    ...(output ? { format: { type: "json_schema", schema: closedSchema(output.schema) } } : {}),
  };
}

function mayHaveTemperature(
  request: ModelRequest,
  model: AnthropicModel,
  thinking: JsonObject | undefined,
): request is ModelRequest & { readonly temperature: number } {
  return request.temperature !== undefined && model.sampling && (thinking === undefined || thinking["type"] === "disabled");
}
