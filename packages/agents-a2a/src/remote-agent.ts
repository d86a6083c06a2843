import { type Agent, AgentError, createAgent, defineTool, type Hooks, type JsonObject } from "@loopwright/core";
import { RemoteCalls, type RemoteCallsOptions } from "./remote-calls.ts";
import { questionTool, remoteProvider, sendTool, sentTasks } from "./remote-provider.ts";

export interface RemoteAgentOptions extends RemoteCallsOptions {
  /** As the agent is known here. */
  readonly name: string;
  /** Longest time without a sign of life of the remote agent, in milliseconds. Default 10 minutes. */
  readonly silenceMs?: number;
}

const silenceMsDefault = 600_000;

/** How long a request to cancel may take. */
const cancelMs = 10_000;

/**
 * An agent whose work a remote agent does: give it to `agentTool`, or to a session. Its first step sends the input, and the log keeps the id of the remote task, which is followed again after a crash. A question of
 * the task waits for people or clients at the session at the top. A run that ends without its answer cancels the task.
 * @throws AgentError CONFIG_INVALID
 */
export function remoteAgent({ name, silenceMs = silenceMsDefault, ...options }: RemoteAgentOptions): Agent {
  if (!URL.canParse(options.card) || !/^https?:$/.test(new URL(options.card).protocol))
    throw new AgentError("CONFIG_INVALID", {
      message: `\`card\` of the remote agent ${name} is no address.`,
      fix: "Pass the absolute URL of its agent card.",
    });
  const calls = new RemoteCalls(options);
  return createAgent({
    ...{ name, provider: remoteProvider(calls, name), hooks: [cancels(calls)] },
    tools: [sends(calls), questions],
    deadlines: { idleMs: silenceMs },
  });
}

/** The message has the same id on every attempt: a remote agent that knows it begins no second task. */
const sends = (calls: RemoteCalls) =>
  defineTool({
    ...{ name: sendTool, description: "Sends the message to the remote agent.", counts: false, replay: "idempotent" },
    parameters: { type: "object", properties: { message: { type: "string" }, contextId: { type: "string" } }, required: ["message"] },
    async execute(args, { idempotencyKey, signal }) {
      const { message: text, contextId } = args as { readonly message: string; readonly contextId?: string };
      const sent = await calls.send({ messageId: idempotencyKey, parts: [{ text }], ...(contextId === undefined ? {} : { contextId }) });
      if ("text" in sent) return { answer: sent.text };
      const { id: taskId, contextId: given } = sent.task;
      if (signal.aborted) await calls.cancel(taskId, AbortSignal.timeout(cancelMs));
      return { taskId, contextId: given } satisfies JsonObject;
    },
  });

const questions = defineTool({
  ...{ name: questionTool, description: "Answers the question of the remote agent.", counts: false, visibility: "client" },
  parameters: {
    type: "object",
    properties: { taskId: { type: "string" }, question: { type: "string" } },
    required: ["taskId", "question"],
  },
});

/** A run that has ended without its answer wants none any more. */
const cancels = (calls: RemoteCalls): Hooks => ({
  name: "remote-task",
  run: {
    async end({ result, logger }) {
      const task = sentTasks(result.messages).at(-1);
      if (!task || result.status === "completed") return;
      try {
        await calls.cancel(task.taskId, AbortSignal.timeout(cancelMs));
      } catch {
        logger.log("info", "A task of a remote agent was not canceled: it has ended, or the agent cannot be reached.", {
          taskId: task.taskId,
        });
      }
    },
  },
});
