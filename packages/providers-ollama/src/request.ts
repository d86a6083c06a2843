import { AgentError, type JsonObject, systemText } from "@loopwright/core";
import type { ModelCapabilities, ModelRequest, ToolSpec } from "@loopwright/core/ports";
import { historyOf } from "./history.ts";
import { hasThinkingLevels } from "./models.ts";
import type { OllamaOptions } from "./options.ts";

/** What of an instance goes into a request. */
export interface RequestContext extends Pick<OllamaOptions, "contextTokens" | "keepAlive"> {
  readonly capabilities: ModelCapabilities;
  readonly streaming: boolean;
}

/**
 * The body of `POST /api/chat`.
 * @throws AgentError MODEL_UNSUPPORTED for what the model or the server does not take: images without vision, a forced tool, one call at a time.
 * @see https://docs.ollama.com/api/chat (2026-11-21)
 */
export function bodyOf(request: ModelRequest, context: RequestContext): JsonObject {
  const messages = historyOf(request.messages, context.capabilities);
  const tools = toolsOf(request, context.capabilities);
  const system = systemText(request.system);
  const options: JsonObject = {
    ...(context.contextTokens === undefined ? {} : { num_ctx: context.contextTokens }),
    ...(request.maxTokens === undefined ? {} : { num_predict: request.maxTokens }),
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
  };
  return {
    model: request.model,
    messages: system === undefined ? messages : [{ role: "system", content: system }, ...messages],
    ...(tools.length > 0 ? { tools } : {}),
    ...(request.output ? { format: request.output.schema } : {}),
    ...(request.reasoning ? { think: thinkOf(request) } : {}),
    ...(Object.keys(options).length > 0 ? { options } : {}),
    ...(context.keepAlive === undefined ? {} : { keep_alive: context.keepAlive }),
    stream: context.streaming,
    ...request.vendorOptions,
  };
}

function toolsOf({ tools, toolChoice, parallelToolCalls }: ModelRequest, capabilities: ModelCapabilities): readonly JsonObject[] {
  if (!tools || tools.length === 0 || !capabilities.tools || toolChoice === "none") return [];
  if (toolChoice !== undefined && toolChoice !== "auto") {
    throw new AgentError("MODEL_UNSUPPORTED", {
      message: "Ollama cannot make a model call a tool.",
      fix: 'Let the model choose (`toolChoice: "auto"`).',
    });
  }
  if (parallelToolCalls === false) {
    throw new AgentError("MODEL_UNSUPPORTED", {
      message: "Ollama cannot keep a model to one tool call at a time.",
      fix: "Leave `parallelToolCalls` out; `limits.parallelMax: 1` runs the calls one by one.",
    });
  }
  return tools.map(toolOf);
}

function toolOf({ name, description, parameters }: ToolSpec): JsonObject {
  return { type: "function", function: { name, description, parameters } };
}

/** A level where the model has levels, else the switch. @see https://docs.ollama.com/capabilities/thinking (2026-11-21) */
function thinkOf({ model, reasoning }: ModelRequest): boolean | string {
  if (!hasThinkingLevels(model)) return true;
  const effort = reasoning?.effort ?? "medium";
  return effort === "minimal" ? "low" : effort;
}
