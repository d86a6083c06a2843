/*
 * Owns: a remote task as calls of a model. A run takes three steps, and each is in the log before the next: the call of `sendTool` sends the message, and its result
 * names the task; a model call follows the task; where the task asks, it calls `questionTool`, which people and clients answer.
 */
import {
  AgentError,
  callsOf,
  type Json,
  type JsonObject,
  type Message,
  type ModelChunk,
  partsOf,
  type ToolResultMessage,
  textOf,
} from "@loopwright/core";
import type { ModelCallIo, ModelProvider, ModelRequest } from "@loopwright/core/ports";
import type { RemoteCalls } from "./remote-calls.ts";
import { isAtRest, isObject, type RemoteEvent, type RemoteTask } from "./remote-task.ts";

export const sendTool: string = "send_to_remote_agent";
export const questionTool: string = "answer_remote_agent";

/** What the result of `sendTool` has. */
export interface SentTask extends JsonObject {
  readonly taskId: string;
  readonly contextId: string;
}

export function remoteProvider(calls: RemoteCalls, name: string): ModelProvider {
  return {
    ...{ name, defaultModel: name },
    capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
    stream: (request, io) => answerOf(calls, request, io),
  };
}

async function* answerOf(calls: RemoteCalls, { messages }: ModelRequest, { signal }: ModelCallIo): AsyncGenerator<readonly ModelChunk[]> {
  const last = messages.at(-1);
  if (last?.role !== "tool_result") {
    const context = sentTasks(messages).at(-1)?.contextId;
    const text = messages.slice(lastAnswer(messages) + 1).flatMap((message) => (message.role === "user" ? [textOf(message)] : []));
    yield callChunks(sendTool, { message: text.join("\n\n"), ...(context === undefined ? {} : { contextId: context }) });
    return;
  }
  if (last.isError) throw new AgentError("EXECUTOR_FAILED", { message: textOf(last) });
  const sent = sentTasks(messages).at(-1);
  // An agent that answers with a message has no task.
  if (!sent) return yield [...textChunks(wholeAnswer(last)), end];
  const { taskId } = sent;
  let task = await calls.task(taskId, signal);
  if (last.toolName === questionTool && task.state === "TASK_STATE_INPUT_REQUIRED" && isAnswerTo(messages, last, task)) {
    await calls.send(
      { messageId: `${taskId}.${last.callKey ?? last.toolCallId}`, taskId, contextId: task.contextId, parts: answerParts(last) },
      signal,
    );
    task = await calls.task(taskId, signal);
  }
  yield* follow(calls, task, signal);
}

/** True where the answered call had the question that the task has now: the task may have had this answer already, and have asked again. */
function isAnswerTo(messages: readonly Message[], { toolCallId }: ToolResultMessage, task: RemoteTask): boolean {
  const asking = messages[lastAnswer(messages)];
  const call = asking?.role === "assistant" ? callsOf(asking).find(({ id }) => id === toolCallId) : undefined;
  return call !== undefined && sortedJson(call.args) === sortedJson(questionOf(task));
}

/** Equal for equal values, in whatever order a store or the remote agent has their fields. */
const sortedJson = (value: Json): string =>
  JSON.stringify(value, (_, part: Json) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );

const questionOf = ({ id, note, data }: RemoteTask): JsonObject => ({
  ...{ taskId: id, question: note },
  ...(data.length === 0 ? {} : { data: data as Json }),
});

const lastAnswer = (messages: readonly Message[]): number => messages.findLastIndex(({ role }) => role === "assistant");

/** The tasks that results of the conversation name. */
export function sentTasks(messages: readonly Message[]): readonly SentTask[] {
  return messages.flatMap((message) => {
    if (message.role !== "tool_result" || message.toolName !== sendTool || message.isError) return [];
    const value = resultValue(message);
    return "taskId" in value ? [value as SentTask] : [];
  });
}

const wholeAnswer = (message: ToolResultMessage): string => {
  const { answer } = resultValue(message);
  return typeof answer === "string" ? answer : "";
};

function resultValue({ content }: ToolResultMessage): JsonObject {
  const [part] = partsOf(content);
  return part?.type === "json" && isObject(part.value) ? part.value : {};
}

/** What people answered: text, or the data that the question asks for. */
function answerParts({ content }: ToolResultMessage): readonly JsonObject[] {
  return partsOf(content).map((part): JsonObject => {
    if (part.type === "json") return { data: part.value };
    return { text: part.type === "text" ? part.text : "" };
  });
}

const end: ModelChunk = { type: "end", stopReason: "stop" };

const textChunks = (delta: string): readonly ModelChunk[] => (delta === "" ? [] : [{ type: "text", index: 0, delta }]);

const callChunks = (name: string, args: JsonObject): readonly ModelChunk[] => [
  { type: "call-start", index: 1, name },
  { type: "call-args", index: 1, delta: JSON.stringify(args) },
  { type: "call-end", index: 1 },
  { type: "end", stopReason: "tool_calls" },
];

/** The text of a task as it grows, then what its state asks for. */
async function* follow(calls: RemoteCalls, begun: RemoteTask, signal: AbortSignal): AsyncGenerator<readonly ModelChunk[]> {
  let task = begun;
  let shown = "";
  let artifacts = new Map<string, string>();
  if (!isAtRest(task.state)) {
    let failure: unknown;
    try {
      for await (const event of calls.subscribe(task.id, signal)) {
        if (event?.type === "text")
          artifacts.set(event.artifact, event.append ? (artifacts.get(event.artifact) ?? "") + event.text : event.text);
        if (event?.type === "task") artifacts = new Map(event.task.artifacts);
        const text = [...artifacts.values()].join("");
        const grown = text.startsWith(shown) ? text.slice(shown.length) : "";
        shown += grown;
        yield grown === "" ? [{ type: "alive" }] : textChunks(grown);
        if (isEnd(event)) break;
      }
    } catch (error) {
      signal.throwIfAborted();
      failure = error;
    }
    // The task as it is kept: a stream that was cut has not all of it.
    task = await calls.task(task.id, signal);
    // A task that has ended meanwhile takes no subscription.
    if (failure !== undefined && !isAtRest(task.state)) throw failure;
  }
  yield* finish(task, shown);
}

const isEnd = (event: RemoteEvent | undefined): boolean =>
  event?.type === "status" ? isAtRest(event.state) : event?.type === "task" && isAtRest(event.task.state);

async function* finish(task: RemoteTask, shown: string): AsyncGenerator<readonly ModelChunk[]> {
  const { state, text, note } = task;
  if (state === "TASK_STATE_INPUT_REQUIRED" || state === "TASK_STATE_AUTH_REQUIRED")
    return yield callChunks(questionTool, questionOf(task));
  if (!isAtRest(state))
    throw new AgentError("EXECUTOR_FAILED", { message: "The stream of the remote agent ended before its task.", retryable: true });
  if (state !== "TASK_STATE_COMPLETED") {
    const what = state.replace("TASK_STATE_", "").toLowerCase();
    throw new AgentError("EXECUTOR_FAILED", { message: `The task of the remote agent is ${what}${note === "" ? "." : `: ${note}`}` });
  }
  // Text that the remote agent took back cannot be unsaid in this attempt: the next one has the whole text at once.
  if (!text.startsWith(shown))
    throw new AgentError("EXECUTOR_FAILED", { message: "The remote agent has changed its answer.", retryable: true });
  yield [...textChunks(text.slice(shown.length)), end];
}
