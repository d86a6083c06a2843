import { type Agent, systemText } from "@loopwright/core";
import { memoryStore, type ScriptedProvider, scripted } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { until } from "../../host/test/turn-of-loop.ts";
import { scriptedAgent, type TestServer, testServer } from "./test-server.ts";

const path = "/api/agent/execute";

interface Pair {
  /** The model of the agent `lawyer`, which both have. */
  readonly model: ScriptedProvider;
  readonly slow: TestServer;
  readonly fast: TestServer;
  /** The slow server is about to write its first facts. */
  readonly isWriting: Promise<void>;
  /** Lets it. */
  write(): void;
  /** How often the slow server has read the log. */
  reads(): number;
}

/** Two servers over one store; the first append of one of them waits until the other has begun the session. */
function openPair(): Pair {
  const store = memoryStore();
  const [writing, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const append: SessionStore["log"]["append"] = async (...args) => {
    writing.resolve();
    await gate.promise;
    return store.log.append(...args);
  };
  let reads = 0;
  const read: SessionStore["log"]["read"] = async (...args) => {
    const facts = await store.log.read(...args);
    reads += 1;
    return facts;
  };
  const model = scripted(() => ({ text: "One." }));
  const lawyer = scriptedAgent([], { name: "lawyer", provider: model });
  const clown = scriptedAgent([{ text: "Honk." }], { name: "clown" });
  const agents: readonly [Agent, Agent] = [lawyer, clown];
  const slow = testServer({ agents, store: { ...store, log: { ...store.log, append, read } } });
  return { model, slow, fast: testServer({ agents, store }), isWriting: writing.promise, write: gate.resolve, reads: () => reads };
}

describe("a session that two servers begin at the same moment", () => {
  it("has the agent of the first: the input for another one is refused", async () => {
    const { slow, fast, isWriting, write } = openPair();
    const late = slow.refused(path, { json: { sessionId: "s1", agent: "clown", input: "hi" } });
    await isWriting;
    const begun = await fast.send(path, { json: { sessionId: "s1", agent: "lawyer", input: "hello" } });
    write();
    expect(await late).toMatchObject({ status: 400, code: "INPUT_INVALID", detail: expect.stringContaining("lawyer") });
    expect(await begun.text()).toContain("One.");
    expect(await (await slow.send(path, { json: { sessionId: "s1", input: "again" } })).text()).toContain("One.");
  });

  it("has the prompt of the first, and answers both", async () => {
    const { model, slow, fast, isWriting, write } = openPair();
    const input = (systemPrompt: string, written: string) => ({ sessionId: "s1", input: written, context: { systemPrompt } });
    const late = slow.send(path, { json: input("Be rude.", "hi") });
    await isWriting;
    const begun = await fast.send(path, { json: input("Be kind.", "hello") });
    write();
    const answers = [await begun.text(), await (await late).text()];
    for (const answer of answers) expect(answer).toContain("One.");
    const { body } = await fast.ask<{ readonly messages: readonly unknown[] }>("/api/sessions/s1");
    expect(body.messages).toHaveLength(4);
    expect(model.requests.map(({ system }) => systemText(system))).toEqual(["Be kind.", "Be kind."]);
  });

  it("exists for the second, also where that one wished for another agent", async () => {
    const { slow, fast, isWriting, write } = openPair();
    const late = slow.refused("/api/sessions", { json: { id: "s1", agent: "clown" } });
    await isWriting;
    expect((await fast.ask("/api/sessions", { json: { id: "s1", agent: "lawyer" } })).status).toBe(201);
    write();
    expect(await late).toMatchObject({ status: 409, code: "SESSION_EXISTS" });
    expect((await slow.ask("/api/sessions/s1")).body).toMatchObject({ agent: "lawyer" });
  });
});

describe("a request that comes again under its key while the first one is beginning the session", () => {
  it("waits for it and gives the same session", async () => {
    const { slow, isWriting, write, reads } = openPair();
    const send = () => slow.ask("/api/sessions", { json: { id: "s1", agent: "lawyer" }, headers: { "Idempotency-Key": "k" } });
    const first = send();
    await isWriting;
    const before = reads();
    const again = [send(), send()];
    await until(() => reads() === before + 2, "both have found no session in the store");
    write();
    expect((await first).status).toBe(201);
    for (const answer of await Promise.all(again)) expect(answer).toMatchObject({ status: 200, body: { sessionId: "s1" } });
  });
});

describe("a session that exists", () => {
  it("exists for a server that does not have it loaded, whatever agent is wished for", async () => {
    const store = memoryStore();
    const agents = [scriptedAgent(undefined, { name: "lawyer" }), scriptedAgent(undefined, { name: "clown" })];
    await testServer({ agents, store }).ask("/api/sessions", { json: { id: "s1", agent: "lawyer" } });
    const problem = await testServer({ agents, store }).refused("/api/sessions", { json: { id: "s1", agent: "clown" } });
    expect(problem).toMatchObject({ status: 409, code: "SESSION_EXISTS" });
  });

  it("has its client tools and its prompt on a server that loads it anew", async () => {
    const store = memoryStore();
    const provider = scripted(() => ({ text: "Yes." }));
    const agents = [scriptedAgent(undefined, { provider })];
    const tools = [{ name: "pick", description: "Lets the person pick.", parameters: { type: "object" } }];
    const begun = { sessionId: "s1", input: "hello", context: { systemPrompt: "Be kind.", tools } };
    await (await testServer({ agents, store }).send(path, { json: begun })).text();
    await (await testServer({ agents, store }).send(path, { json: { sessionId: "s1", input: "again" } })).text();
    const [first, second] = provider.requests;
    expect(second).toMatchObject({ system: [{ text: "Be kind.", source: "session", cache: "session" }], tools: [{ name: "pick" }] });
    expect(second?.tools).toEqual(first?.tools);
  });
});
