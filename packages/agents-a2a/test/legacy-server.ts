import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type * as Legacy from "@a2a-js/sdk-03";
import {
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  type RequestContext,
} from "@a2a-js/sdk-03/server";
import { onTestFinished } from "vitest";
import type { RemoteServer, Work } from "./remote-server.ts";

/** A server of the official SDK of 0.3. */
export async function legacyServer(work: (given: Work) => void): Promise<RemoteServer> {
  const [received, canceled]: [string[], string[]] = [[], []];
  const finishers = new Map<string, () => void>();
  const execute = async ({ taskId, contextId, userMessage, task }: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const text = userMessage.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
    received.push(text);
    const ids = { taskId, contextId };
    if (!task) bus.publish({ kind: "task", id: taskId, contextId, status: { state: "submitted" } });
    bus.publish({ kind: "status-update", ...ids, status: { state: "working" }, final: false });
    let isBegun = false;
    const { promise: ended, resolve: finish } = Promise.withResolvers<void>();
    finishers.set(taskId, finish);
    work({
      ...{ text, isAnswer: task !== undefined },
      report(data) {
        const message: Legacy.Message = {
          ...{ kind: "message", messageId: crypto.randomUUID(), role: "agent", ...ids },
          parts: [{ kind: "data", data }],
        };
        bus.publish({ kind: "status-update", ...ids, status: { state: "working", message }, final: false });
      },
      write(piece, { append } = { append: isBegun }) {
        bus.publish({
          ...{ kind: "artifact-update", ...ids, append },
          artifact: { artifactId: "answer", parts: [{ kind: "text", text: piece }] },
        });
        isBegun = true;
      },
      end(state, note = "") {
        const words = state.toLowerCase().replace("_", "-") as Legacy.TaskState;
        const message: Legacy.Message = {
          ...{ kind: "message", messageId: `${taskId}.${state}`, role: "agent", ...ids },
          parts: [{ kind: "text", text: note }],
        };
        bus.publish({ kind: "status-update", ...ids, status: { state: words, message }, final: true });
        bus.finished();
        finish();
      },
    });
    await ended;
  };
  const cancelTask = async (taskId: string, bus: ExecutionEventBus): Promise<void> => {
    canceled.push(taskId);
    bus.publish({ kind: "status-update", taskId, contextId: "", status: { state: "canceled" }, final: true });
    bus.finished();
    finishers.get(taskId)?.();
  };
  let handler: JsonRpcTransportHandler | undefined;
  let card: Legacy.AgentCard | undefined;
  const server = createServer(async (request, response) => {
    if (request.method === "GET") return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(card));
    let body = "";
    for await (const piece of request) body += String(piece);
    const answer = await handler?.handle(JSON.parse(body));
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
  card = {
    ...{ name: "remote", description: "Remote.", version: "1", protocolVersion: "0.3.0", url: `${url}/rpc` },
    ...{ capabilities: { streaming: true }, defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"], skills: [] },
  };
  handler = new JsonRpcTransportHandler(new DefaultRequestHandler(card, new InMemoryTaskStore(), { execute, cancelTask }));
  return { card: `${url}/card.json`, received, canceled };
}
