import {
  type AssistantMessage,
  callsOf,
  type JsonObject,
  partsOf,
  pathOf,
  type SessionSnapshot,
  type ToolResultMessage,
  textOf,
  type UserMessage,
} from "@loopwright/core/protocol";
import type { AgUiMessage } from "./ag-ui-event.ts";

/** The text that an agent reads as the result of a call. */
export function resultText({ content }: ToolResultMessage): string {
  return partsOf(content)
    .map((part) => (part.type === "text" ? part.text : part.type === "json" ? JSON.stringify(part.value) : `[${part.mediaType}]`))
    .join("\n");
}

export const resultIdOf = (callKey: string): string => `${callKey}.result`;

/** An answer of a model, its reasoning before it. */
export function answerMessages(id: string, message: AssistantMessage): readonly AgUiMessage[] {
  const reasoning = message.content.map((part) => (part.type === "thinking" ? part.text : "")).join("");
  const toolCalls = callsOf(message).map(({ callKey, name, args, argsText }) => ({
    ...{ id: callKey, type: "function" },
    function: { name, arguments: argsText ?? JSON.stringify(args) },
  }));
  const text = textOf(message);
  return [
    ...(reasoning === "" ? [] : [{ id: `${id}.reasoning`, role: "reasoning", content: reasoning }]),
    { id, role: "assistant", ...(text === "" ? {} : { content: text }), ...(toolCalls.length === 0 ? {} : { toolCalls }) },
  ];
}

export function resultMessage(callKey: string, message: ToolResultMessage): AgUiMessage {
  const text = resultText(message);
  const isFailed = message.isError === true || (message.outcome !== undefined && message.outcome !== "ok");
  return { id: resultIdOf(callKey), role: "tool", toolCallId: callKey, content: text, ...(isFailed ? { error: text } : {}) };
}

export function userMessage(id: string, { content }: UserMessage): AgUiMessage {
  if (typeof content === "string") return { id, role: "user", content };
  const parts = content.map((part): JsonObject => {
    if (part.type === "text") return { type: "text", text: part.text };
    if (part.type === "json") return { type: "text", text: JSON.stringify(part.value) };
    const { data, url, blob } = part.source;
    const kept = url ?? (blob === undefined ? undefined : `/api/files/${encodeURIComponent(blob)}`);
    const source = kept === undefined ? { type: "data", value: data ?? "" } : { type: "url", value: kept };
    return { type: part.type === "image" ? "image" : "document", source: { ...source, mimeType: part.mediaType } };
  });
  return { id, role: "user", content: parts };
}

/** The messages of the path that people see. An answer is known by its run and its turn, a result by its call. */
export function threadMessages(session: SessionSnapshot): readonly AgUiMessage[] {
  const turns = new Map<string, number>();
  return pathOf(session).flatMap(({ id, runId, message }): readonly AgUiMessage[] => {
    if (message.role === "user") return [userMessage(id, message)];
    if (message.role === "tool_result") return message.callKey === undefined ? [] : [resultMessage(message.callKey, message)];
    if (message.role !== "assistant") return [];
    if (runId === undefined) return answerMessages(id, message);
    const turn = (turns.get(runId) ?? 0) + 1;
    turns.set(runId, turn);
    return answerMessages(`${runId}.${turn}`, message);
  });
}
