import { once } from "node:events";
import { createServer as createHttp } from "node:http";
import type { AddressInfo } from "node:net";
import { createAgent, defineTool, type Observer } from "@loopwright/core";
import { memoryChannel, memoryQueue, memoryStore, scripted, silentLogger } from "@loopwright/core/memory";
import { createRuntime, createWorker } from "@loopwright/host";
import { createServer } from "@loopwright/server";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { expect, it, onTestFinished } from "vitest";
import { spanIds, traceObserver } from "../src/opentelemetry/index.ts";
import { anne } from "./telemetry-server.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const given = `00-${traceId}-00f067aa0ba902b7-01`;

function tracing() {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new TracerProvider({ idGenerator: spanIds, spanProcessors: [new SimpleSpanProcessor({ exporter } as never)] });
  return { exporter, ...traceObserver({ tracerProvider }) };
}

/** A service that a tool calls, which notes the `traceparent` of each request. */
async function downstream() {
  const traces: (string | undefined)[] = [];
  const server = createHttp((request, response) => {
    traces.push(request.headers["traceparent"] as string | undefined);
    response.end("Seen.");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, traces };
}

it("A52: the trace of a request to a server that runs nothing is that of the run on a worker, of its tool and of what the tool calls", async () => {
  const [store, channel, queue] = [memoryStore(), memoryChannel(), memoryQueue()];
  const { host, traces } = await downstream();
  const [door, works] = [tracing(), tracing()];
  const fetching = works.tracedFetch([host]);
  const agentWith = (call: () => Promise<string>) =>
    createAgent({
      name: "helper",
      provider: scripted(({ messages }) => (messages.at(-1)?.role === "user" ? { calls: [{ name: "look" }] } : { text: "Ok." }), {
        model: "small",
      }),
      tools: [defineTool({ name: "look", description: "Looks.", parameters: { type: "object" }, execute: call })],
    });
  const runtimeOf = (observer: Observer, call: () => Promise<string>) =>
    createRuntime({ agents: [agentWith(call)], store, channel, queue, observers: [observer], logger: silentLogger });
  const server = createServer({
    runtime: runtimeOf(door.observer, () => Promise.reject(new Error("A server that runs nothing runs no tool."))),
    role: "server",
    authenticate: anne,
  });
  const worker = createWorker({ runtime: runtimeOf(works.observer, async () => (await fetching(`http://${host}/v1`)).text()) });
  onTestFinished(async () => {
    await server.close();
    await worker.close();
    await queue.close();
  });
  const ask = async (id: string, trace?: string): Promise<void> => {
    const headers = { "Content-Type": "application/json", ...(trace === undefined ? {} : { traceparent: trace }) };
    const request = (path: string, body?: object) =>
      server.fetch(
        new Request(`http://localhost/api/sessions${path}`, { headers, ...(body ? { method: "POST", body: JSON.stringify(body) } : {}) }),
        {
          remoteAddress: "127.0.0.1",
        },
      );
    expect((await request("", { id })).status).toBe(201);
    expect((await request(`/${id}/messages`, { input: "Look." })).status).toBe(202);
    expect(await (await request(`/${id}/events`)).text()).toContain("Ok.");
  };
  await ask("traced", given);
  const finished = async (count: number) => {
    await expect.poll(() => works.exporter.getFinishedSpans().length).toBeGreaterThanOrEqual(count);
    return [...works.exporter.getFinishedSpans()];
  };
  const spans = await finished(4);
  expect(spans.map(({ name }) => name).sort()).toEqual(["chat small", "chat small", "execute_tool look", "invoke_agent helper"]);
  expect(new Set(spans.map((span) => span.spanContext().traceId))).toEqual(new Set([traceId]));
  const named = (name: string) => spans.find((span) => span.name === name);
  expect(named("invoke_agent helper")?.parentSpanContext?.spanId).toBe("00f067aa0ba902b7");
  expect(named("execute_tool look")?.parentSpanContext?.spanId).toBe(named("invoke_agent helper")?.spanContext().spanId);
  expect(traces).toEqual([`00-${traceId}-${named("execute_tool look")?.spanContext().spanId}-01`]);
  expect(door.exporter.getFinishedSpans()).toEqual([]);
  // Another run begins a trace of its own: none is carried over.
  await ask("plain");
  const later = (await finished(8)).slice(spans.length);
  expect(later).toHaveLength(4);
  expect(later.some((span) => span.spanContext().traceId === traceId)).toBe(false);
});
