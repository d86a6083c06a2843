import { type Agent, defineTool } from "@loopwright/core";
import { manualClock, memoryChannel, memoryQueue, memoryStore, silentLogger } from "@loopwright/core/memory";
import type { DurableEvent, Problem, SessionSnapshot, SessionSummary } from "@loopwright/core/protocol";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { runClock, until } from "../../host/test/turn-of-loop.ts";
import { durableEvent, executeComplete, problem, sessionSnapshot } from "../src/schemas/index.ts";
import type { ServerOptions } from "../src/server-options.ts";
import { framesOf } from "./payloads/frames-of.ts";
import { type ServeOptions, work } from "./serve.ts";
import { scriptedAgent, type TestServer, testServer } from "./test-server.ts";

const ran: unknown[] = [];
const remove = defineTool({
  name: "remove",
  description: "Removes a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  execute: (args) => {
    ran.push(args);
    return "removed";
  },
});
const careful = (more: { readonly timeoutMs?: number } = {}): Agent =>
  scriptedAgent([{ calls: [{ name: "remove", args: { path: "/tmp/a" }, id: "c1" }] }, { text: "It is gone." }], {
    tools: [remove],
    hooks: [{ name: "approve", gate: () => ({ action: "ask", reason: "Gone for good.", ...more }) }],
  });

const key = (value: string): { readonly "Idempotency-Key": string } => ({ "Idempotency-Key": value });

beforeEach(() => {
  ran.length = 0;
});

/** A session `a` whose run waits for approval. */
async function asked(options: Partial<ServeOptions> = {}): Promise<TestServer & { readonly path: string; readonly argsDigest: string }> {
  const server = testServer({ agents: [careful()], ...options });
  const frames = await framesOf(await server.send("/api/agent/execute", { json: { sessionId: "a", agent: "helper", input: "Tidy up" } }));
  const complete = executeComplete.parse(frames.at(-1)?.data);
  const [approval] = complete.pendingApprovals ?? [];
  expect([complete.status, complete.pendingToolCalls, approval]).toMatchObject([
    "awaiting_tool_execution",
    [],
    { toolCallId: "c1", toolName: "remove", args: { path: "/tmp/a" }, reason: "Gone for good." },
  ]);
  return { ...server, path: `/api/sessions/a/approvals/${approval?.callKey}`, argsDigest: approval?.argsDigest ?? "" };
}

/** The events of the session, once it rests. */
async function restOf({ send }: TestServer): Promise<readonly DurableEvent[]> {
  const frames = await framesOf(await send("/api/sessions/a/events"));
  return frames.flatMap(({ id, data }) => (id === undefined ? [] : [durableEvent.parse(data)]));
}

describe("an approval over HTTP", () => {
  it("is shown by the session, its list and its events", async () => {
    const server = await asked();
    const { body } = await server.ask<SessionSnapshot>("/api/sessions/a");
    expect(sessionSnapshot.parse(body)).toMatchObject({
      status: "waiting",
      run: { pendingApprovals: [{ argsDigest: server.argsDigest }] },
    });
    const list = await server.ask<{ readonly sessions: readonly SessionSummary[] }>("/api/sessions");
    expect(list.body.sessions).toMatchObject([{ id: "a", status: "waiting", waitsFor: ["approvals"] }]);
    expect((await restOf(server)).at(-1)).toMatchObject({ type: "approval_requested", argsDigest: server.argsDigest });
  });

  it("continues the run once the call is allowed, and accepts the same decision again", async () => {
    const server = await asked();
    const sent = { json: { decision: "allow", note: "fine", argsDigest: server.argsDigest }, headers: key("k") };
    const first = await server.ask(server.path, sent);
    expect(first).toMatchObject({ status: 202, body: { sessionId: "a", replayed: false, seq: expect.any(Number) } });
    const events = await restOf(server);
    expect(events.find(({ type }) => type === "approval_decided")).toMatchObject({ decision: "allow", by: "local", note: "fine" });
    expect(events.at(-1)).toMatchObject({ type: "run_end", status: "completed" });
    for (const headers of [{}, key("k"), key("another")])
      expect(await server.ask(server.path, { json: sent.json, headers })).toMatchObject({
        status: 200,
        body: { ...first.body, replayed: true },
      });
    expect(ran).toEqual([{ path: "/tmp/a" }]);
  });

  it("has the tool run with edited arguments, and refuses those that do not fit it", async () => {
    const server = await asked();
    expect(await server.refused(server.path, { json: { decision: "allow", args: { path: 7 } } })).toMatchObject({
      status: 400,
      code: "INPUT_INVALID",
      detail: expect.stringContaining("path"),
    });
    expect((await server.ask(server.path, { json: { decision: "allow", args: { path: "/tmp/b" } } })).status).toBe(202);
    await restOf(server);
    expect(ran).toEqual([{ path: "/tmp/b" }]);
  });

  it("that was decided by another is refused with the first decision, as often as it comes", async () => {
    const principals = { anne: { user: "anne", scope: "s" }, ben: { user: "ben", scope: "s" } };
    const authenticate: NonNullable<ServerOptions["authenticate"]> = async (request) =>
      principals[request.headers.get("X-User") as keyof typeof principals];
    const server = testServer({ agents: [careful()], authenticate });
    const as = (user: string, json: unknown) => ({ json, headers: { "X-User": user } });
    const frames = await framesOf(
      await server.send("/api/agent/execute", as("anne", { sessionId: "a", agent: "helper", input: "Tidy up" })),
    );
    const path = `/api/sessions/a/approvals/${executeComplete.parse(frames.at(-1)?.data).pendingApprovals?.[0]?.callKey}`;
    expect((await server.ask(path, as("ben", { decision: "deny", note: "no" }))).status).toBe(202);
    for (const json of [{ decision: "allow" }, { decision: "deny", note: "no" }]) {
      const refusal = await server.refused(path, as("anne", json));
      const { headers: _, ...document } = refusal;
      expect(problem.parse(document)).toMatchObject({
        status: 409,
        code: "APPROVAL_DECIDED",
        details: { decision: "deny", by: "ben", note: "no", at: expect.any(Number) },
      });
    }
    expect(ran).toEqual([]);
  });

  it.each([
    ["another call", "/api/sessions/a/approvals/nobody.1.0", { decision: "allow" }, 404, "CALL_UNKNOWN"],
    ["another session", "/api/sessions/b/approvals/nobody.1.0", { decision: "allow" }, 404, "SESSION_NOT_FOUND"],
    ["no decision", undefined, {}, 400, "INPUT_INVALID"],
    ["neither yes nor no", undefined, { decision: "maybe" }, 400, "INPUT_INVALID"],
    ["a denial with arguments", undefined, { decision: "deny", args: {} }, 400, "INPUT_INVALID"],
    ["other arguments", undefined, { decision: "allow", argsDigest: "0".repeat(64) }, 409, "APPROVAL_MISMATCH"],
    ["a long note", undefined, { decision: "allow", note: "x".repeat(2_001) }, 400, "INPUT_INVALID"],
  ] as const)("about %s is refused, and the call waits as before", async (_, path, json, status, code) => {
    const server = await asked();
    expect(await server.refused(path ?? server.path, { json })).toMatchObject({ status, code });
    expect((await server.ask<SessionSnapshot>("/api/sessions/a")).body.run?.pendingApprovals).toHaveLength(1);
  });

  it("under a key of another decision is refused", async () => {
    const server = await asked();
    expect((await server.ask(server.path, { json: { decision: "allow" }, headers: key("k") })).status).toBe(202);
    expect(await server.refused(server.path, { json: { decision: "deny" }, headers: key("k") })).toMatchObject({
      status: 422,
      code: "KEY_REUSED",
    });
  });

  it("is decided on another server of the same store", async () => {
    const options = { store: memoryStore(), agents: [careful()] };
    const first = await asked(options);
    const second = testServer(options);
    expect((await second.ask(first.path, { json: { decision: "allow" } })).status).toBe(202);
    expect((await restOf(second)).at(-1)).toMatchObject({ type: "run_end", status: "completed" });
    expect((await first.ask(first.path, { json: { decision: "allow" } })).body).toMatchObject({ replayed: true });
    expect(ran).toHaveLength(1);
  });

  it("of a run that was stopped, or of a session that is gone, cannot be decided on", async () => {
    const server = await asked();
    await server.ask("/api/sessions/a/abort", { method: "POST" });
    expect((await server.refused(server.path, { json: { decision: "allow" } })) satisfies Problem).toMatchObject({
      status: 409,
      code: "APPROVAL_DECIDED",
      details: { outcome: "aborted" },
    });
    await server.send("/api/sessions/a", { method: "DELETE" });
    expect(await server.refused(server.path, { json: { decision: "allow" } })).toMatchObject({ status: 404 });
  });
});

describe("an approval over several nodes", () => {
  /** A server that runs nothing, and a worker, over one store and one queue; the clock stands still. */
  async function nodes(timeoutMs?: number) {
    const clock = manualClock();
    const shared = { agents: [careful(timeoutMs === undefined ? {} : { timeoutMs })], store: memoryStore({ clock }), clock };
    const queue = memoryQueue();
    const channel = memoryChannel();
    const server = testServer({ ...shared, queue, channel, role: "server" });
    const worker = work({ ...shared, queue, channel, logger: silentLogger });
    onTestFinished(async () => {
      await worker.close();
      await server.server.close();
    });
    const asking = server.send("/api/agent/execute", { json: { sessionId: "a", agent: "helper", input: "Tidy up" } });
    const frames = await framesOf(await asking);
    const [approval] = executeComplete.parse(frames.at(-1)?.data).pendingApprovals ?? [];
    const types = async (): Promise<readonly string[]> =>
      (await shared.store.log.read({ scope: "local", session: "a" })).map(({ type }) => type);
    return { server, clock, types, path: `/api/sessions/a/approvals/${approval?.callKey}` };
  }

  it("is decided on at one that runs nothing, and acted on by the worker at once", async () => {
    const { server, path, types } = await nodes();
    expect((await server.ask(path, { json: { decision: "allow" } })).status).toBe(202);
    await until(async () => (await types()).at(-1) === "run.finished", "the run goes on");
    expect(ran).toEqual([{ path: "/tmp/a" }]);
    expect((await server.ask(path, { json: { decision: "allow" } })).body).toMatchObject({ replayed: true });
  });

  it("whose deadline passes while no process has the session loaded is found by a sweep", async () => {
    const { server, path, types, clock } = await nodes(3_600_000);
    clock.advance(3_600_001);
    expect(await server.refused(path, { json: { decision: "allow" } })).toMatchObject({ status: 409, details: { outcome: "expired" } });
    onTestFinished(runClock(clock, 100));
    await until(async () => (await types()).at(-1) === "run.finished", "the run goes on");
    expect(ran).toEqual([]);
  });
});
