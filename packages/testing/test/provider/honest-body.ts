import {
  type AssistantPart,
  type Json,
  type JsonObject,
  type Message,
  type ModelRequest,
  systemText,
  type ToolCallPart,
  type UserMessage,
} from "@loopwright/core";

/** The name of the memory wire on opaque parts. */
export const honestVendor = "memory";

/** The body that an honest provider sends. */
export function honestBody(request: ModelRequest): JsonObject {
  const { model, system, tools, toolChoice, parallelToolCalls, maxTokens, temperature, reasoning, output, stream, cacheKey } = request;
  const hasTools = tools !== undefined && tools.length > 0;
  return {
    model,
    stream: stream ?? true,
    messages: messagesForWire(request.messages),
    ...(system === undefined ? {} : { system: systemText(system) ?? null }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(hasTools ? { tools: tools.map((tool) => ({ ...tool })) } : {}),
    ...(hasTools && toolChoice !== undefined ? { choice: toolChoice } : {}),
    ...(hasTools && parallelToolCalls !== undefined ? { parallel: parallelToolCalls } : {}),
    ...(maxTokens === undefined ? {} : { limit: maxTokens }),
    ...(reasoning === undefined ? {} : { reasoning: { ...reasoning } }),
    ...(output === undefined ? {} : { output: { ...output } }),
    ...(cacheKey === undefined ? {} : { cache: cacheKey }),
    ...request.vendorOptions,
  };
}

function messagesForWire(messages: readonly Message[]): readonly JsonObject[] {
  const wire: JsonObject[] = [];
  let calls: readonly ToolCallPart[] = [];
  for (const message of messages) {
    if (message.role === "assistant") {
      calls = message.content.filter((part) => part.type === "tool_call");
      const parts = message.content.map(partForWire).filter((part) => part !== null);
      if (parts.length > 0) wire.push({ role: "assistant", parts });
    } else if (message.role === "tool_result") {
      const call = calls.find(({ id, callKey }) => message.toolCallId === id || message.toolCallId === callKey);
      const names = { of: call?.id ?? message.toolCallId, name: call?.name ?? message.toolName ?? "" };
      wire.push({ role: "result", ...names, content: JSON.stringify(message.content), ...(message.isError ? { failed: true } : {}) });
    } else wire.push(message.role === "notice" ? { role: "system", content: message.text } : { role: "user", content: userText(message) });
  }
  return wire;
}

function partForWire(part: AssistantPart): Json {
  if (part.type === "thinking") return part.opaque?.vendor === honestVendor ? { thinking: part.text, signature: part.opaque.data } : null;
  if (part.type === "tool_call") return { call: part.id, name: part.name, args: part.args };
  return part.type === "text" && part.text !== "" ? { text: part.text } : null;
}

function userText({ content }: UserMessage): string {
  const parts = typeof content === "string" ? [{ type: "text", text: content } as const] : content;
  const isBlank = parts.every((part) => part.type === "text" && part.text.trim() === "");
  if (isBlank) return "(nothing)";
  return typeof content === "string" ? content : JSON.stringify(content);
}
