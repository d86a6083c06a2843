import {
  type AssistantMessage,
  callsOf,
  type JsonObject,
  type Message,
  partsOf,
  pathOf,
  type SessionSnapshot,
  type ToolResultMessage,
  textOf,
  type UserMessage,
} from "@loopwright/core/protocol";
import type { AgUiMessage } from "./ag-ui-event.ts";
import { withoutPageState } from "./page-state.ts";

/** The text that an agent reads as the result of a call. */
export function resultText({ content }: ToolResultMessage): string {
  return partsOf(content)
    .map((part) => (part.type === "text" ? part.text : part.type === "json" ? JSON.stringify(part.value) : `[${part.mediaType}]`))
    .join("\n");
}

export const resultIdOf = (callId: string): string => `${callId}.result`;

/** The id of a call or a message for a page: after the session of its agent, where that is one below the run. */
export const idBelow = (id: string, session?: string): string => (session === undefined ? id : `${session}/${id}`);

/** An answer of a model, its reasoning before it. `session`: that of an agent below the run. */
export function answerMessages(id: string, message: AssistantMessage, session?: string): readonly AgUiMessage[] {
  const reasoning = message.content.map((part) => (part.type === "thinking" ? part.text : "")).join("");
  const toolCalls = callsOf(message).map(({ callKey, name, args, argsText }) => ({
    ...{ id: idBelow(callKey, session), type: "function" },
    function: { name, arguments: argsText ?? JSON.stringify(args) },
  }));
  const text = textOf(message);
  return [
    ...(reasoning === "" ? [] : [{ id: `${id}.reasoning`, role: "reasoning", content: reasoning }]),
    { id, role: "assistant", ...(text === "" ? {} : { content: text }), ...(toolCalls.length === 0 ? {} : { toolCalls }) },
  ];
}

export function resultMessage(callId: string, message: ToolResultMessage): AgUiMessage {
  const text = resultText(message);
  const isFailed = message.isError === true || (message.outcome !== undefined && message.outcome !== "ok");
  return { id: resultIdOf(callId), role: "tool", toolCallId: callId, content: text, ...(isFailed ? { error: text } : {}) };
}

export function userMessage(id: string, message: UserMessage): AgUiMessage {
  const { content } = withoutPageState(message);
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

/** A message of the path that people see, and those that AG-UI makes of it. */
export interface ShownMessage {
  readonly message: Message;
  /** Absent for a message that the session was opened with. */
  readonly runId?: string;
  readonly shown: readonly AgUiMessage[];
}

/** The path that people see. An answer is known by its run and its turn, a result by its call; those of an agent below the run also by its session. */
export function shownMessages(session: SessionSnapshot, below?: string): readonly ShownMessage[] {
  const turns = new Map<string, number>();
  return pathOf(session).map(({ id, runId, message }) => {
    if (message.role === "user") return { message, shown: [userMessage(id, message)] };
    if (message.role === "tool_result")
      return {
        message,
        ...(runId === undefined ? {} : { runId }),
        shown: message.callKey === undefined ? [] : [resultMessage(idBelow(message.callKey, below), message)],
      };
    if (message.role !== "assistant") return { message, shown: [] };
    if (runId === undefined) return { message, shown: answerMessages(idBelow(id, below), message, below) };
    const turn = (turns.get(runId) ?? 0) + 1;
    turns.set(runId, turn);
    return { message, shown: answerMessages(idBelow(`${runId}.${turn}`, below), message, below) };
  });
}

/** The messages of a thread without those of agents below it. */
export const threadMessages = (session: SessionSnapshot): readonly AgUiMessage[] => shownMessages(session).flatMap(({ shown }) => shown);

/** The messages of a thread with those of agents below it: the SDK has results right after the message with their calls, and these after the results. */
export function withThoseBelow(
  messages: readonly { readonly shown: readonly AgUiMessage[]; readonly below: readonly AgUiMessage[] }[],
): readonly AgUiMessage[] {
  const placed: AgUiMessage[] = [];
  let waiting: AgUiMessage[] = [];
  for (const { shown, below } of messages) {
    if (shown.some(({ role }) => role !== "tool")) {
      placed.push(...waiting);
      waiting = [];
    }
    placed.push(...shown);
    waiting.push(...below);
  }
  return [...placed, ...waiting];
}
