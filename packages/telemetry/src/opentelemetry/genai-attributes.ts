import type { FactBody, Usage } from "@loopwright/core";
import type { Attributes } from "@opentelemetry/api";

/** Names of the Semantic Conventions for GenAI, v0.1.0 (2026; status: development), which follow v1.41.0 of the Semantic Conventions. */
export const genAi = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  requestModel: "gen_ai.request.model",
  responseModel: "gen_ai.response.model",
  finishReasons: "gen_ai.response.finish_reasons",
  conversation: "gen_ai.conversation.id",
  agent: "gen_ai.agent.name",
  tool: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  toolCall: "gen_ai.tool.call.id",
  toolArguments: "gen_ai.tool.call.arguments",
  toolResult: "gen_ai.tool.call.result",
  outputMessages: "gen_ai.output.messages",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheRead: "gen_ai.usage.cache_read.input_tokens",
  cacheWrite: "gen_ai.usage.cache_creation.input_tokens",
  reasoning: "gen_ai.usage.reasoning.output_tokens",
  firstChunk: "gen_ai.response.time_to_first_chunk",
  error: "error.type",
} as const;

/** The names of the conventions for the vendors whose name there is another one than here. */
const providers: { readonly [name: string]: string } = { gemini: "gcp.gemini" };

export const providerName = (name: string): string => providers[name] ?? name;

/** Counts as the conventions want them: all that was read, with the cached part in it. */
function usageAttributes(usage: Usage | undefined): Attributes {
  if (!usage) return {};
  const { input, cacheRead, cacheWrite, output, reasoning } = usage;
  const hasInput = input !== undefined || cacheRead !== undefined || cacheWrite !== undefined;
  return defined({
    [genAi.inputTokens]: hasInput ? (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0) : undefined,
    [genAi.outputTokens]: output,
    [genAi.cacheRead]: cacheRead,
    [genAi.cacheWrite]: cacheWrite,
    [genAi.reasoning]: reasoning,
  });
}

/** The attributes of the end of an attempt. `withContent`: also what the model wrote and the tool gave. */
export function closingAttributes(closing: FactBody | undefined, withContent: boolean): Attributes {
  if (closing?.type === "model.finished") {
    const { message, stopReason, timings, usage } = closing;
    return defined({
      [genAi.responseModel]: message.model,
      [genAi.finishReasons]: [stopReason],
      [genAi.firstChunk]: timings.firstTokenMs === undefined ? undefined : timings.firstTokenMs / 1_000,
      ...usageAttributes(usage),
      [genAi.outputMessages]: withContent
        ? JSON.stringify([{ role: "assistant", parts: message.content, finish_reason: stopReason }])
        : undefined,
    });
  }
  if (closing?.type === "model.failed") return { ...usageAttributes(closing.usage), [genAi.error]: closing.failure.code };
  if (closing?.type === "tool.finished")
    return defined({
      "loopwright.tool.outcome": closing.outcome,
      [genAi.error]: closing.outcome === "ok" ? undefined : (closing.failure?.code ?? closing.outcome),
      [genAi.toolResult]: withContent ? JSON.stringify(closing.output) : undefined,
    });
  return closing ? {} : { "loopwright.left_to_next_owner": true };
}

function defined(attributes: { readonly [name: string]: Attributes[string] | undefined }): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
