import type { Notification } from "@loopwright/core/ports";
import { type DurableEvent, type Message, type SessionEvent, textOf } from "@loopwright/core/protocol";

/** One frame of the dialect: its SSE `event:` name, and what `data:` holds. */
export interface DialectFrame {
  readonly event: string;
  readonly data: { readonly [field: string]: unknown };
}

/** How a task stands, in the dialect's words. */
export type TaskStatus = "Pending" | "Running" | "ToolCalling" | "Completed" | "Failed" | "Cancelled";

/** Events of many sessions in the words of a notification stream: conversations are sessions, tasks are runs. */
export interface NotificationsDialect {
  ofEvents(conversationId: string, events: readonly SessionEvent[]): readonly DialectFrame[];
  ofNotification(notification: Notification): DialectFrame;
}

/** Open lanes that are remembered; more are forgotten, oldest first. */
const lanesMax = 1_000;

/** `runOf`: the open run of a session, for answers that began before anybody listened. */
export function createNotificationsDialect(runOf: (conversationId: string) => string | undefined): NotificationsDialect {
  /** The run of each open model call: deltas do not name theirs. */
  const runs = new Map<string, string>();

  function ofDurable(conversationId: string, event: DurableEvent): readonly DialectFrame[] {
    const { runId } = event;
    const named = { conversationId, ...(runId === undefined ? {} : { taskId: runId }) };
    const status = (to: TaskStatus): DialectFrame => ({ event: "AITaskStatusChanged", data: { ...named, status: to } });
    switch (event.type) {
      case "input_accepted":
        return event.mode === "steer" ? [] : [status("Pending")];
      case "run_start":
        return [status("Running")];
      case "message_start":
        if (event.role === "assistant" && runId !== undefined) remember(`${conversationId}/${event.seq}`, runId);
        return [];
      case "message_end":
        return ofMessage(named, event.messageId, event.message);
      case "tool_execution_start": {
        const { toolCallId, toolName, args } = event;
        return [status("ToolCalling"), { event: "AIToolCallStarted", data: { ...named, toolCallId, toolName, args } }];
      }
      case "tool_execution_end": {
        const { toolCallId, toolName, outcome, output } = event;
        return [{ event: "AIToolCallCompleted", data: { ...named, toolCallId, toolName, outcome, output } }];
      }
      case "awaiting_tool_execution":
        return [status("ToolCalling")];
      case "turn_start":
        return event.turn > 1 ? [status("Running")] : [];
      case "error":
        return event.reason === "error" ? [{ event: "AIStreamError", data: { ...named, code: event.code, error: event.error } }] : [];
      case "run_end":
        return [status(event.status === "completed" ? "Completed" : event.status === "failed" ? "Failed" : "Cancelled")];
      default:
        return [];
    }
  }

  function remember(lane: string, runId: string): void {
    runs.set(lane, runId);
    if (runs.size <= lanesMax) return;
    for (const oldest of runs.keys()) {
      runs.delete(oldest);
      return;
    }
  }

  return {
    ofEvents(conversationId, events) {
      return events.flatMap((event) => {
        if ("seq" in event) return ofDurable(conversationId, event);
        if (event.type !== "text_delta") return [];
        const taskId = runs.get(`${conversationId}/${event.lane}`) ?? runOf(conversationId);
        return [{ event: "AIMessageDelta", data: { conversationId, ...(taskId === undefined ? {} : { taskId }), text: event.delta } }];
      });
    },
    ofNotification: ({ type, data }) => ({ event: pascalCase(type), data: { type, ...(data === undefined ? {} : { data }) } }),
  };
}

/** An answer, once it is in the log. */
function ofMessage(named: { readonly [field: string]: unknown }, messageId: string, message: Message): readonly DialectFrame[] {
  if (message.role !== "assistant") return [];
  return [{ event: "AIMessageComplete", data: { ...named, messageId, text: textOf(message), stopReason: message.stopReason } }];
}

const pascalCase = (type: string): string => type.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
