import { memoryStore, silentLogger } from "@loopwright/core/memory";
import { createHost } from "@loopwright/host";
import { expect, it } from "vitest";
import { createHealthServer, createServer } from "../src/index.ts";
import { withRuntime } from "./serve.ts";
import { fromHere, scriptedAgent } from "./test-server.ts";

const hostHere = () => createHost(withRuntime({ agents: [scriptedAgent()], store: memoryStore(), logger: silentLogger }));
const ready = async (server: { readonly fetch: ReturnType<typeof createServer>["fetch"] }): Promise<number> =>
  (await server.fetch(new Request("http://localhost/readyz"), fromHere)).status;
const execute = (input: string, sessionId: string): Request =>
  new Request("http://localhost/api/agent/execute", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ sessionId, agent: "helper", input }),
  });

it("two servers over one host share its sessions, and the end of one leaves the host and the other as they are", async () => {
  const host = hostHere();
  const [first, second] = [createServer({ host }), createServer({ host, basePath: "/agents" })];
  await (await first.fetch(execute("Hi.", "a"), fromHere)).text();
  const read = await second.fetch(new Request("http://localhost/agents/api/sessions/a"), fromHere);
  expect([read.status, host.sessions.loaded]).toEqual([200, 1]);
  expect(await first.handOver()).toBe(0);
  expect([first.ready(), second.ready(), host.ready()]).toEqual([false, true, true]);
  expect((await first.fetch(execute("Hi.", "a"), fromHere)).status).toBe(503);
  await second.close();
  await host.close();
});

it("a server ends its streams when the host that it was given ends", async () => {
  const host = hostHere();
  const server = createServer({ host });
  await (await server.fetch(execute("Hi.", "a"), fromHere)).text();
  const stream = await server.fetch(new Request("http://localhost/api/sessions/a/events?from=now"), fromHere);
  await host.close();
  expect(await stream.text()).toContain("session_snapshot");
  expect(server.ready()).toBe(false);
  expect((await server.fetch(execute("Hi.", "a"), fromHere)).status).toBe(503);
});

it("a host is ready until it ends", async () => {
  const host = hostHere();
  const health = createHealthServer({ host });
  expect(await ready(health)).toBe(200);
  await host.handOver();
  expect(await ready(health)).toBe(503);
});
