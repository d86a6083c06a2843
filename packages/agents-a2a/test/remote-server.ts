import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AgentCard, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from "@a2a-js/sdk";
import {
  AgentEvent,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  type RequestContext,
  ServerCallContext,
} from "@a2a-js/sdk/server";
import { onTestFinished } from "vitest";

/** What a remote agent does with a message. */
export interface Work {
  readonly text: string;
  /** The message continues a task that has asked. */
  readonly isAnswer: boolean;
  /** Adds text to the answer, or takes its place. */
  write(text: string, more?: { readonly append: boolean }): void;
  /** Reports what a tool does. */
  report(data: { readonly [name: string]: string }): void;
  /** Sets the state, with a text. */
  end(state: "COMPLETED" | "FAILED" | "INPUT_REQUIRED", note?: string): void;
}

/** A server of the official SDK. */
export interface RemoteServer {
  readonly card: string;
  /** Texts of the messages that reached the agent. */
  readonly received: readonly string[];
  /** Ids of tasks that were canceled. */
  readonly canceled: readonly string[];
}

export async function remoteServer(work: (given: Work) => void): Promise<RemoteServer> {
  const [received, canceled]: [string[], string[]] = [[], []];
  const finishers = new Map<string, () => void>();
  const execute = async ({ taskId, contextId, userMessage, task }: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const text = userMessage.parts.map(({ content }) => (content?.$case === "text" ? content.value : "")).join("");
    received.push(text);
    const ids = { taskId, contextId };
    const state = task ? "TASK_STATE_WORKING" : "TASK_STATE_SUBMITTED";
    bus.publish(AgentEvent.task(Task.fromJSON({ id: taskId, contextId, status: { state } })));
    bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ ...ids, status: { state: "TASK_STATE_WORKING" } })));
    let isBegun = false;
    const { promise: ended, resolve: finish } = Promise.withResolvers<void>();
    finishers.set(taskId, finish);
    work({
      ...{ text, isAnswer: task !== undefined },
      write(piece, { append } = { append: isBegun }) {
        const artifact = { artifactId: "answer", parts: [{ text: piece }] };
        bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON({ ...ids, artifact, append })));
        isBegun = true;
      },
      report(data) {
        const message = { messageId: crypto.randomUUID(), role: "ROLE_AGENT", parts: [{ data }], ...ids };
        bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ ...ids, status: { state: "TASK_STATE_WORKING", message } })));
      },
      end(state, note = "") {
        const message = { messageId: `${taskId}.${state}`, role: "ROLE_AGENT", parts: [{ text: note }], ...ids };
        bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ ...ids, status: { state: `TASK_STATE_${state}`, message } })));
        bus.finished();
        finish();
      },
    });
    await ended;
  };
  const cancelTask = async (taskId: string, bus: ExecutionEventBus): Promise<void> => {
    canceled.push(taskId);
    bus.publish(
      AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId: "", status: { state: "TASK_STATE_CANCELED" } })),
    );
    bus.finished();
    finishers.get(taskId)?.();
  };
  let handler: JsonRpcTransportHandler | undefined;
  let cardJson = {};
  const server = createServer(async (request, response) => {
    if (request.method === "GET") return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(cardJson));
    let body = "";
    for await (const piece of request) body += String(piece);
    const answer = await handler?.handle(body, new ServerCallContext({ requestedVersion: "1.0" }));
    if (answer && Symbol.asyncIterator in answer) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      try {
        for await (const event of answer) response.write(`data: ${JSON.stringify(event)}\n\n`);
      } catch {
        // The task has ended meanwhile: there is nothing to subscribe to.
        response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32_004, message: "It has ended." } })}\n\n`);
      }
      return response.end();
    }
    return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  cardJson = {
    ...{ name: "remote", description: "Remote.", version: "1", capabilities: { streaming: true } },
    supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  };
  handler = new JsonRpcTransportHandler(
    new DefaultRequestHandler(AgentCard.fromJSON(cardJson), new InMemoryTaskStore(), { execute, cancelTask }),
  );
  return { card: `${url}/card.json`, received, canceled };
}
