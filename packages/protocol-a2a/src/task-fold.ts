import {
  type AgentEvent,
  type AssistantPart,
  addUsage,
  callsOf,
  type Json,
  type JsonObject,
  type Message,
  partsOf,
  type ToolResultMessage,
  textOf,
  type Usage,
} from "@loopwright/core/protocol";
import type { Pending, Task, TaskEvent, TaskMessage, TaskPart, TaskState, TaskStatus } from "./a2a-task.ts";
import { questionParts } from "./task-question.ts";

type MessageEnd = Extract<AgentEvent, { readonly type: "message_end" }>;
type RunEnd = Extract<AgentEvent, { readonly type: "run_end" }>;

const endStates: { readonly [status in RunEnd["status"]]: TaskState } = {
  completed: "TASK_STATE_COMPLETED",
  failed: "TASK_STATE_FAILED",
  aborted: "TASK_STATE_CANCELED",
};

/**
 * One run as a task of A2A 1.0: each event gives what a stream sends, and the task as it is then. The artifact `answer` has the text of the last answer of the
 * model: a new turn, another attempt or a filter takes its place. Pure.
 */
export class TaskFold {
  readonly #ids: { readonly taskId: string; readonly contextId: string };
  #status: TaskStatus = { state: "TASK_STATE_SUBMITTED" };
  #at: number | undefined;
  /** The text of the artifact; `undefined`: there is none yet. */
  #artifact: string | undefined;
  /** The text of the last answer that is complete. */
  #answer = "";
  /** The text of the model call under way. */
  #draft = "";
  #isDraftSent = false;
  #failure: { readonly code: string; readonly error: string } | undefined;
  #usage: Usage | undefined;
  #pending: Pending = {};
  readonly #history: TaskMessage[] = [];
  readonly #results = new Set<string>();

  constructor({ taskId, contextId }: { readonly taskId: string; readonly contextId: string }) {
    // These two alone: what is sent has no field that a strict parser of the protocol does not know.
    this.#ids = { taskId, contextId };
  }

  get isEnded(): boolean {
    return Object.values(endStates).includes(this.#status.state);
  }

  get state(): TaskState {
    return this.#status.state;
  }

  /** What is asked while the state is INPUT_REQUIRED. */
  get pending(): Pending {
    return this.#pending;
  }

  /** True for the text of a result that a call of this run has. */
  hasResult(text: string): boolean {
    return this.#results.has(text);
  }

  /** The task as it is. `historyLength`: the newest messages that are wanted. Default: all. */
  task(historyLength?: number): Task {
    const { taskId: id, contextId } = this.#ids;
    const text = this.#artifact ?? "";
    return {
      ...{ id, contextId, status: this.#status },
      artifacts: text === "" ? [] : [answerOf(text)],
      history: historyLength === undefined ? this.#history : historyLength === 0 ? [] : this.#history.slice(-historyLength),
      ...(this.#usage ? { metadata: { usage: this.#usage } } : {}),
    };
  }

  /** What an event adds. */
  take(event: AgentEvent): readonly TaskEvent[] {
    if ("at" in event) this.#at = event.at;
    switch (event.type) {
      case "run_start":
        return [this.#setStatus("TASK_STATE_WORKING")];
      case "turn_start":
        this.#beginDraft();
        return [];
      case "text_delta":
        return this.#extend(event.delta);
      case "message_snapshot":
        return this.#settleTo(textOfParts(event.content));
      case "attempt_discarded":
        return this.#discard();
      case "message_end":
        return this.#endMessage(event);
      case "error":
        this.#failure = event;
        return [];
      case "run_end":
        return [this.#end(event)];
      default:
        return this.#workEvents(event);
    }
  }

  /** The run waits for answers. */
  wait(pending: Pending): readonly TaskEvent[] {
    this.#pending = pending;
    return [this.#setStatus("TASK_STATE_INPUT_REQUIRED", { parts: questionParts(pending), suffix: "question" })];
  }

  #end({ status, usage }: RunEnd): TaskEvent {
    if (usage) this.#usage = usage;
    const failure = this.#failure;
    const parts = failure ? [{ text: failure.error }, { data: { code: failure.code } }] : undefined;
    return this.#setStatus(endStates[status], parts ? { parts, suffix: "end" } : {});
  }

  /** What happens beside the text: tools, their steps, agents. */
  #workEvents(event: AgentEvent): readonly TaskEvent[] {
    const data = workOf(event);
    if (!data) return [];
    const key = "callKey" in event && event.callKey !== undefined ? event.callKey : "work";
    const message = this.#messageOf(`${key}.${event.type}`, [{ data }]);
    // What a tool does is no lasting part of the status.
    return [this.#updateOf({ ...this.#statusOf("TASK_STATE_WORKING"), message })];
  }

  #beginDraft(): void {
    this.#draft = "";
    this.#isDraftSent = false;
  }

  #extend(delta: string): readonly TaskEvent[] {
    if (delta === "") return [];
    this.#draft += delta;
    return [this.#send(delta, { append: this.#isDraftSent })];
  }

  /** The text of the model call under way is this one. */
  #settleTo(text: string, { isLast = false } = {}): readonly TaskEvent[] {
    const isContinued = this.#isDraftSent && text.startsWith(this.#draft);
    const rest = isContinued ? text.slice(this.#draft.length) : text;
    const isEqual = isContinued ? rest === "" : text === (this.#artifact ?? "") && (text === "" || this.#isDraftSent);
    this.#draft = text;
    if (isEqual && !(isLast && isContinued)) return [];
    return [this.#send(rest, { append: isContinued, lastChunk: isLast })];
  }

  #send(text: string, { append: isContinued, lastChunk = false }: { readonly append: boolean; readonly lastChunk?: boolean }): TaskEvent {
    // An artifact without text is none for those that read the task.
    const append = isContinued && this.#artifact !== "";
    this.#artifact = append ? (this.#artifact ?? "") + text : text;
    this.#isDraftSent = true;
    return { artifactUpdate: { ...this.#ids, artifact: answerOf(text), append, lastChunk } };
  }

  #discard(): readonly TaskEvent[] {
    const events = this.#isDraftSent ? [this.#send(this.#answer, { append: false })] : [];
    this.#beginDraft();
    return events;
  }

  #endMessage({ message, messageId, usage }: MessageEnd): readonly TaskEvent[] {
    if (message.role === "tool_result") this.#results.add(resultTextOf(message));
    if (message.role === "user") this.#remember(messageId, "ROLE_USER", message);
    if (message.role !== "assistant") return [];
    if (usage) this.#usage = addUsage(this.#usage, usage);
    const isLast = callsOf(message).length === 0;
    if (!isLast) this.#remember(messageId, "ROLE_AGENT", message);
    this.#answer = textOf(message);
    const events = this.#settleTo(this.#answer, { isLast });
    this.#beginDraft();
    return events;
  }

  #remember(id: string, role: TaskMessage["role"], message: Message): void {
    const parts = messageParts(message);
    if (parts.length > 0) this.#history.push({ ...this.#messageOf(id, parts), role });
  }

  #messageOf(id: string, parts: readonly TaskPart[]): TaskMessage {
    return { messageId: `${this.#ids.taskId}.${id}`, role: "ROLE_AGENT", parts, ...this.#ids };
  }

  #statusOf(state: TaskState): TaskStatus {
    return { state, ...(this.#at === undefined ? {} : { timestamp: new Date(this.#at).toISOString() }) };
  }

  #setStatus(state: TaskState, note?: { readonly parts?: readonly TaskPart[]; readonly suffix?: string }): TaskEvent {
    const message = note?.parts ? { message: this.#messageOf(note.suffix ?? "status", note.parts) } : {};
    this.#status = { ...this.#statusOf(state), ...message };
    return this.#updateOf(this.#status);
  }

  #updateOf(status: TaskStatus): TaskEvent {
    const usage = this.#usage && Object.values(endStates).includes(status.state) ? { usage: this.#usage } : undefined;
    return { statusUpdate: { ...this.#ids, status, ...(usage ? { metadata: usage } : {}) } };
  }
}

const answerOf = (text: string) => ({ artifactId: "answer", name: "answer", parts: [{ text }] });

const textOfParts = (content: readonly AssistantPart[]): string => textOf({ role: "assistant", content, stopReason: "stop" });

/** The text that an agent reads as the result of a call. */
function resultTextOf({ content }: ToolResultMessage): string {
  return partsOf(content)
    .map((part) => (part.type === "text" ? part.text : part.type === "json" ? JSON.stringify(part.value) : `[${part.mediaType}]`))
    .join("\n");
}

/** A message of the history: files by their media type alone. */
function messageParts(message: Message): readonly TaskPart[] {
  if (message.role !== "user") {
    const text = textOf(message);
    return text === "" ? [] : [{ text }];
  }
  return partsOf(message.content).map((part) => {
    if (part.type === "text") return { text: part.text };
    return { data: part.type === "json" ? part.value : { file: part.mediaType } };
  });
}

/** What a client may show of the work: a tool, a step of it, a child agent. */
function workOf(event: AgentEvent): JsonObject | undefined {
  switch (event.type) {
    case "tool_execution_start":
      return { type: "tool", state: "working", callKey: event.callKey, toolName: event.label ?? event.toolName, args: event.args };
    case "tool_execution_end": {
      const { callKey, toolName, outcome, output } = event;
      return { type: "tool", state: outcome, callKey, toolName, output: output as unknown as Json };
    }
    case "progress":
      return { type: "progress", state: event.state, callKey: event.callKey, id: event.id, title: event.title };
    case "agent_start":
      return { type: "agent", state: "working", agent: event.agent };
    default:
      return undefined;
  }
}
