import { type Agent, createAgent, isAgentError, type ResolveModel, type Runtime } from "@loopwright/core";
import { fixedPrices, memoryLedger, memoryQueue, memoryStore, scripted, silentLogger } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { createWorker } from "../create-worker.ts";
import { createRuntime, type RuntimeOptions } from "./create-runtime.ts";

const helper = (text = "Hello.", name = "helper"): Agent<undefined> =>
  createAgent({ name, provider: scripted(Array.from({ length: 9 }, () => ({ text }))) });

const runtimeOf = (options: Partial<RuntimeOptions> = {}) => createRuntime({ agents: [helper()], logger: silentLogger, ...options });

describe("a runtime", () => {
  it("gives its sessions what all of them share, and asks one question in a session of the store", async () => {
    const store = memoryStore();
    const runtime = runtimeOf({ store });
    const session = runtime.session({ agent: "helper", id: "a", title: "First" });
    const run = runtime.ask("helper", "Hi.", { id: "b", access: { user: "ann", scope: "team" } });
    expect((await run.result()).text).toBe("Hello.");
    await session.open();
    const refs = [
      { scope: "local", session: "a" },
      { scope: "team", session: "b" },
    ];
    for (const ref of refs) expect((await store.log.read(ref)).length).toBeGreaterThan(0);
    expect((await runtime.open("a")).title).toBe("First");
    expect((await runtime.open("b", { user: "bob", scope: "team" })).messages).toHaveLength(2);
  });

  it("opens a session with the agent, the client tools and the prompt that its log names", async () => {
    const runtime = runtimeOf({ agents: [helper(), helper("Other.", "other")] });
    const tools = [{ name: "pick", description: "Picks.", parameters: { type: "object" } }];
    await runtime.session({ agent: "other", id: "a", tools, prompt: "Be brief." }).open();
    const session = await runtime.open("a");
    const stream = session.submit("Hi.");
    await stream;
    expect(session.lastSeq).toBeGreaterThan(0);
    const opening = (await runtime.store.log.read({ scope: "local", session: "a" }))[0];
    expect(opening).toMatchObject({ type: "session.opened", agent: "other", tools: [{ name: "pick" }], prompt: "Be brief." });
  });

  const refusals: readonly (readonly [string, string, (runtime: Runtime) => unknown])[] = [
    ["a session that does not exist", "SESSION_NOT_FOUND", (runtime) => runtime.open("none")],
    ["a session of another scope", "SESSION_NOT_FOUND", (runtime) => runtime.open("a", { user: "ann", scope: "team" })],
    ["a session whose agent is not here", "AGENT_NOT_FOUND", (runtime) => runtime.open("foreign")],
    ["an unknown agent", "AGENT_NOT_FOUND", (runtime) => runtime.session({ agent: "absent" })],
    ["an agent of a known name that is another one", "AGENT_NOT_FOUND", (runtime) => runtime.ask(helper("Else."), "Hi.")],
    ["an agent that is not in its list", "AGENT_NOT_FOUND", (runtime) => runtime.session({ agent: helper("x", "else") })],
  ];

  it.each(refusals)("refuses %s", async (_, code, use) => {
    const runtime = runtimeOf();
    await runtime.session({ agent: "helper", id: "a" }).open();
    await createRuntime({ agents: [helper("x", "foreign")], store: runtime.store, logger: silentLogger })
      .session({ agent: "foreign", id: "foreign" })
      .open();
    await expect((async () => use(runtime))()).rejects.toMatchObject({ code });
  });

  it("takes the agent itself where it is in the list, and types its output", async () => {
    const agent = helper();
    const runtime = runtimeOf({ agents: [agent] });
    const result = await runtime.ask(agent, "Hi.").result();
    if (result.status === "completed") result.output satisfies undefined;
    expect(result.text).toBe("Hello.");
  });

  it("finds agents by a function of name and scope, and checks each once", async () => {
    const asked: string[] = [];
    const agents: { readonly [scope: string]: Agent } = { team: helper("For the team."), other: helper("For others.") };
    const runtime = runtimeOf({
      agents: (name, { scope }) => {
        asked.push(`${scope}/${name}`);
        return Promise.resolve(name === "helper" ? agents[scope] : undefined);
      },
    });
    const access = { user: "ann", scope: "team" };
    await runtime.session({ agent: agents["team"] as Agent, id: "a", access }).open();
    const session = await runtime.open("a", access);
    expect([session.id, runtime.agents, asked]).toEqual(["a", [], ["team/helper"]]);
    expect(await runtime.findAgent("helper", access)).toBe(await runtime.findAgent("helper", access));
    expect(await runtime.findAgent("absent", access)).toBeUndefined();
    expect(() => runtime.session({ agent: "helper" })).toThrow(expect.objectContaining({ code: "AGENT_NOT_FOUND" }));
    const wrong = runtimeOf({ agents: () => helper("x", "wrong") });
    await expect(wrong.findAgent("helper", access)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  it("runs on a worker what a handle recorded that does not drive, also for an agent that a function finds", async () => {
    const shared = { store: memoryStore(), queue: memoryQueue(), agents: () => helper("From the worker."), logger: silentLogger };
    const [front, back] = [createRuntime(shared), createRuntime(shared)];
    const worker = createWorker({ runtime: back });
    const run = front.ask(helper(), "Hi.", { drives: false, access: { user: "ann", scope: "team" } });
    expect((await run.result()).text).toBe("From the worker.");
    await worker.close();
  });

  it("gives its context engine to agents that have none", () => {
    const [context, own] = [{ open: () => ({ fit: () => undefined }) }, { open: () => ({ fit: () => undefined }) }];
    const runtime = runtimeOf({ agents: [helper(), createAgent({ ...helper("x", "free"), context: own })], context });
    expect(runtime.agents.map((agent) => agent.context)).toEqual([context, own]);
  });

  it("gives its prices to agents that have none", async () => {
    const prices = fixedPrices({ "scripted-1": { inputUsd: 1_000, outputUsd: 2_000 } });
    const own = fixedPrices({ "scripted-1": { inputUsd: 0, outputUsd: 0 } });
    const runtime = runtimeOf({ agents: [helper(), createAgent({ ...helper("x", "free"), prices: own })], prices });
    expect(runtime.agents.map((agent) => agent.prices)).toEqual([prices, own]);
  });

  it("gives its ledger and its token counter to sessions and workers", async () => {
    let counted = 0;
    const tokenCounter = { count: () => ++counted };
    const ledger = memoryLedger({ limits: { "scope/local": { tokens: 5_000 }, "scope/team": { tokens: 1 } } });
    const shared = { store: memoryStore(), queue: memoryQueue(), agents: [helper()], logger: silentLogger, ledger, tokenCounter };
    const worker = createWorker({ runtime: createRuntime(shared) });
    const ask = (scope: string, drives: boolean) =>
      createRuntime(shared)
        .ask("helper", "Hi.", { drives, access: { user: "ann", scope } })
        .result();
    for (const drives of [true, false]) {
      counted = 0;
      expect((await ask("local", drives)).text).toBe("Hello.");
      expect((await ask("team", drives)).error?.code).toBe("LIMIT_REACHED");
      expect(counted).toBe(2);
    }
    await worker.close();
  });

  it("A54: asks for the model of each call, in sessions and in workers", async () => {
    const resolveModel: ResolveModel = ({ access }) =>
      access.user === "ann" ? { provider: scripted([{ text: "With Ann's key." }]), model: "own-1", keyOwner: "user" } : undefined;
    const shared = { store: memoryStore(), queue: memoryQueue(), agents: [helper()], logger: silentLogger, resolveModel };
    const worker = createWorker({ runtime: createRuntime(shared) });
    const ask = (user: string, drives: boolean) =>
      createRuntime(shared)
        .ask("helper", "Hi.", { drives, access: { user, scope: "team" } })
        .result();
    for (const drives of [true, false]) {
      expect((await ask("ann", drives)).text).toBe("With Ann's key.");
      expect((await ask("ben", drives)).text).toBe("Hello.");
    }
    await worker.close();
  });

  it("closes its backend once, and only when it is asked to", async () => {
    let closed = 0;
    const runtime = createRuntime({ agents: [helper()], store: memoryStore(), logger: silentLogger, close: async () => void closed++ });
    await createWorker({ runtime }).handOver();
    expect(closed).toBe(0);
    await Promise.all([runtime.close(), runtime.close()]);
    expect(closed).toBe(1);
    await runtimeOf().close();
  });

  it("refuses no agent, two of one name and an option that it does not know", () => {
    for (const wrong of [
      { agents: [] },
      { agents: [helper(), helper()] },
      { agents: 7 },
      { agents: [null] },
      { agents: [helper()], stores: 1 },
    ])
      expect(() => createRuntime(wrong as never)).toThrow(expect.toSatisfy((error: unknown) => isAgentError(error, "CONFIG_INVALID")));
  });
});
