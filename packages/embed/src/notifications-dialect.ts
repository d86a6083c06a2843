import type { Notification } from "@loopwright/core/ports";
import { type DurableEvent, type Message, type SessionEvent, textOf } from "@loopwright/core/protocol";
import type { DialectFrame, DialectReader, StreamDialect } from "@loopwright/server";
import { tokenUsage } from "./token-usage.ts";

/** The state of a task, as the dialect names it. */
export type TaskStatus = "Pending" | "Running" | "ToolCalling" | "Completed" | "Failed" | "Cancelled";

/** Open lanes whose run is remembered; the oldest are forgotten first. */
const lanesMax = 1_000;

/** Conversations and tasks in place of sessions and runs: `GET /api/notifications?dialect=notifications`. */
export const notificationsDialect: StreamDialect = {
  name: "notifications",
  open: ({ runOf }) => new NotificationsReader(runOf),
};

class NotificationsReader implements DialectReader {
  /** The run of each open model call: deltas do not name theirs. */
  readonly #runs = new Map<string, string>();
  readonly #runOf: (conversationId: string) => string | undefined;

  /** `runOf` serves answers that began before the stream was opened. */
  constructor(runOf: (conversationId: string) => string | undefined) {
    this.#runOf = runOf;
  }

  events(conversationId: string, events: readonly SessionEvent[]): readonly DialectFrame[] {
    return events.flatMap((event) => {
      if ("seq" in event) {
        if (event.type === "message_start" && event.role === "assistant" && event.runId !== undefined)
          this.#remember(`${conversationId}/${event.seq}`, event.runId);
        return ofDurable(conversationId, event);
      }
      if (event.type !== "text_delta") return [];
      const taskId = this.#runs.get(`${conversationId}/${event.lane}`) ?? this.#runOf(conversationId);
      const data = { conversationId, ...(taskId === undefined ? {} : { taskId }), text: event.delta };
      return [{ event: "AIMessageDelta", data, isSpare: true }];
    });
  }

  notification({ type, data }: Notification): readonly DialectFrame[] {
    return [{ event: pascalCase(type), data: { type, ...(data === undefined ? {} : { data }) } }];
  }

  #remember(lane: string, runId: string): void {
    this.#runs.set(lane, runId);
    const [oldest] = this.#runs.keys();
    if (this.#runs.size > lanesMax && oldest !== undefined) this.#runs.delete(oldest);
  }
}

function ofDurable(conversationId: string, event: DurableEvent): readonly DialectFrame[] {
  const { runId } = event;
  const named = { conversationId, ...(runId === undefined ? {} : { taskId: runId }) };
  const status = (to: TaskStatus): DialectFrame => ({ event: "AITaskStatusChanged", data: { ...named, status: to } });
  switch (event.type) {
    case "input_accepted":
      return event.mode === "steer" || event.mode === "merge" ? [] : [status("Pending")];
    case "run_start":
      return [status("Running")];
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

/** An answer that is in the log. */
function ofMessage(named: { readonly [field: string]: unknown }, messageId: string, message: Message): readonly DialectFrame[] {
  if (message.role !== "assistant") return [];
  const usage = tokenUsage(message.usage);
  const data = { ...named, messageId, text: textOf(message), stopReason: message.stopReason, ...(usage ? { usage } : {}) };
  return [{ event: "AIMessageComplete", data }];
}

const pascalCase = (type: string): string => type.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
