import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type Agent,
  type AgentError,
  type ChildResult,
  createAgent,
  createSession,
  defineTool,
  execute,
  type Hooks,
  isAgentError,
  resume,
  type ToolContext,
} from "../src/index.ts";
import { fixedPrices, memoryStore, type ScriptedProvider, scripted } from "../src/memory/index.ts";
import { processes, settled } from "./dying-processes.ts";
import { calm, eventsOf, ofType, type World, world } from "./harness.ts";

const parameters = { type: "object" } as const;
const calls = [{ name: "delegate", id: "c1" }];
/** The same at each attempt of a model call. */
const delegating = (({ messages }: { readonly messages: readonly { readonly role: string }[] }) =>
  messages.at(-1)?.role === "tool_result" ? { text: "ok" } : { calls }) as never;

interface Helper {
  readonly agent: Agent;
  readonly provider: ScriptedProvider;
}

/** An agent that is started as a child. */
function helper(
  turns: readonly object[] | (() => object) = () => ({ text: "found it", usage: { input: 7, output: 3 } }),
  parts: object = {},
): Helper {
  const provider = scripted(turns as never);
  return { provider, agent: createAgent({ name: "helper", provider, ...parts }) };
}

/** A tool that runs again after a crash. */
const delegate = (run: (context: ToolContext) => unknown, more: object = {}) =>
  defineTool({
    name: "delegate",
    description: "Delegates.",
    parameters,
    replay: "idempotent",
    ...more,
    execute: (_, context) => run(context),
  });

const startsWith =
  (agent: Agent, key = "first") =>
  async ({ child }: ToolContext): Promise<string> =>
    (await child(key, agent, "Find it.")).text;

const childOf = async ({ facts }: Pick<World, "facts">): Promise<string> => {
  const linked = (await facts()).find(({ type }) => type === "child.linked");
  return linked?.type === "child.linked" ? linked.session : "";
};
/** The model of the child has as many requests. */
async function asked({ requests }: ScriptedProvider, count: number): Promise<void> {
  while (requests.length < count) await calm();
}
/** Lets timers fire until it is settled. */
async function finished<T>(promise: Promise<T>, { clock }: Pick<World, "clock">): Promise<T> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  promise.then(over, over);
  while (!isOver) {
    // Ids are digests, which are made beside the event loop: those that were asked for before are there after this one.
    await crypto.subtle.digest("SHA-256", new Uint8Array());
    await calm();
    if (!isOver) clock.advance(250);
  }
  return promise;
}

/** The log of the child has a fact of this type. */
async function recorded(made: Pick<World, "facts" | "store">, type: string): Promise<readonly string[]> {
  for (;;) {
    const types = await typesOf(made, await childOf(made));
    if (types.includes(type)) return types;
    await calm();
  }
}
const typesOf = async ({ store }: Pick<World, "store">, session: string): Promise<readonly string[]> =>
  (await store.log.read({ scope: "local", session })).map(({ type }) => type);

describe("a tool that starts a child", () => {
  it("gets the result of a session of its own, which the log links, and whose usage the run counts once", async () => {
    const { agent, provider } = helper();
    const results: ChildResult[] = [];
    const tool = delegate(async ({ child }) => {
      results.push(await child("first", agent, "Find it."));
      return results[0]?.text;
    });
    const made = world(delegating, { tools: [tool] });
    const events = await eventsOf(execute(made.session, "Go.", { labels: { plan: "pro" } }));
    const session = await childOf(made);
    expect(session).toMatch(/^child-[0-9a-f]{40}$/);
    expect(results).toEqual([
      { session, status: "completed", text: "found it", output: undefined, toolCallCount: 0, usage: { input: 7, output: 3 } },
    ]);
    const facts = await made.facts();
    const runId = made.session.snapshot().lastRun?.runId ?? facts.find((fact) => fact.type === "run.started")?.runId;
    const place = { runId, callKey: `${runId}.1.0` };
    expect(facts.filter(({ type }) => type.startsWith("child."))).toMatchObject([
      { type: "child.linked", ...place, session, agent: "helper", key: "first" },
      { type: "child.finished", ...place, session, outcome: "ok", usage: { input: 7, output: 3 } },
    ]);
    expect(ofType(events, "agent_start")).toMatchObject([{ session, agent: "helper", callKey: place.callKey }]);
    expect(ofType(events, "agent_end")).toMatchObject([{ session, usage: { input: 7, output: 3 } }]);
    expect(made.session.totalUsage).toMatchObject({ input: 7, output: 3 });
    const own = await made.store.log.read({ scope: "local", session });
    expect(own.find(({ type }) => type === "session.opened")).toMatchObject({ parent: { session: "s1", ...place, depth: 1, depthMax: 4 } });
    expect(own.find(({ type }) => type === "input.accepted")).toMatchObject({
      origin: { type: "session", session: "s1", ...place },
      labels: { plan: "pro" },
    });
    expect(provider.requests).toHaveLength(1);
  });

  it("gets the typed answer of an agent with an output, and the error of one that failed", async () => {
    const city = z.object({ name: z.string() });
    const atlas = createAgent({ name: "atlas", provider: scripted([{ text: '{"name":"Lisbon"}' }]), output: city });
    const broken = createAgent({ name: "broken", provider: scripted([{ error: "MODEL_AUTH" }]) });
    const seen: unknown[] = [];
    const tool = delegate(async ({ child }) => {
      const [found, failed] = await Promise.all([child("city", atlas, "Where?"), child("broken", broken, "Where?")]);
      seen.push(found.output?.name, failed.status, isAgentError(failed.error, "MODEL_AUTH"));
    });
    const made = world(delegating, { tools: [tool] });
    await execute(made.session, "Go.").result();
    expect(seen).toEqual(["Lisbon", "failed", true]);
    const ends = (await made.facts()).filter(({ type }) => type === "child.finished");
    expect(ends).toMatchObject([{ outcome: expect.any(String) }, { outcome: expect.any(String) }]);
    expect(ends.map((fact) => fact.type === "child.finished" && fact.outcome).sort()).toEqual(["error", "ok"]);
  });

  it("gets one child for one key, beside and after one another; with another agent or input KEY_REUSED", async () => {
    const { agent, provider } = helper();
    const codes: unknown[] = [];
    const tool = delegate(async ({ child }) => {
      const two = await Promise.all([child("a", agent, "Find it."), child("a", agent, "Find it.")]);
      const third = await child("a", agent, "Find it.");
      codes.push(new Set([...two, third].map(({ session }) => session)).size);
      await child("a", agent, "Find another.").catch((error: AgentError) => codes.push(error.code));
      await child("a", helper().agent, "Find another.").catch((error: AgentError) => codes.push(error.code));
    });
    const { session } = world(delegating, { tools: [tool] });
    await execute(session, "Go.").result();
    expect([codes, provider.requests.length]).toEqual([[1, "KEY_REUSED", "KEY_REUSED"], 1]);
  });

  it("in a session without a store has children that live as long as the session", async () => {
    const { agent, provider } = helper();
    const parent = createAgent({ name: "lone", provider: scripted(delegating), tools: [delegate(startsWith(agent))] });
    const session = createSession({ agent: parent });
    const result = await execute(session, "Go.").result();
    expect(JSON.stringify(result.messages)).toContain("found it");
    expect(provider.requests).toHaveLength(1);
  });

  it.each([
    ["a blank key", (agent: Agent) => [" ", agent, "x"], "INPUT_INVALID"],
    ["an agent that is none", () => ["a", { name: "helper" }, "x"], "CONFIG_INVALID"],
    ["an input that is nothing", (agent: Agent) => ["a", agent, null], "INPUT_INVALID"],
  ] as const)("is refused %s, and nothing is recorded", async (_, args, code) => {
    const { agent } = helper();
    let thrown: unknown;
    const tool = delegate(({ child }) =>
      (child as (...all: readonly unknown[]) => Promise<unknown>)(...args(agent)).catch((error) => (thrown = error)),
    );
    const made = world(delegating, { tools: [tool] });
    await execute(made.session, "Go.").result();
    expect(thrown).toMatchObject({ code });
    expect(await made.types()).not.toContain("child.linked");
  });
});

describe("M10: the depth of children", () => {
  /** An agent that starts a child of the next one, and names how deep it came. */
  const chain = (names: readonly string[], limits: object = {}): Agent => {
    const [name = "", ...rest] = names;
    if (rest.length === 0) return createAgent({ name, provider: scripted([{ text: "bottom" }]) });
    const tool = delegate(async ({ child }) => {
      const { text, error } = await child("next", chain(rest), "Deeper.");
      return error ? error.message : text;
    });
    return createAgent({
      name,
      provider: scripted([
        { calls },
        ({ messages }: { messages: readonly object[] }) => ({ text: JSON.stringify(messages.at(-1)) }),
      ] as never),
      tools: [tool],
      limits,
    });
  };

  it.each([
    [2, true],
    [1, false],
  ])("is bounded by the limit of the run at the top: with %i a grandchild is started: %s", async (depthMax, isThere) => {
    const store = memoryStore();
    const session = createSession({ agent: chain(["root", "middle", "leaf"], { depthMax }), store });
    const { text } = await execute(session, "Go.").result();
    if (isThere) expect(text).toContain("bottom");
    else expect(text).toMatch(/LIMIT_REACHED.*`leaf` would have the depth 2, and `limits.depthMax` is 1.*Raise `limits.depthMax`/);
  });

  it("of 0 allows no children: the error has the limit and the depth", async () => {
    const { agent } = helper();
    let thrown: unknown;
    const tool = delegate(({ child }) => child("a", agent, "x").catch((error) => (thrown = error)));
    const made = world(delegating, { tools: [tool], limits: { depthMax: 0 } });
    await execute(made.session, "Go.").result();
    expect(thrown).toMatchObject({ code: "LIMIT_REACHED", details: { which: "depth", limit: 0, depth: 1 }, retryable: false });
    expect(await made.types()).not.toContain("child.linked");
  });
});

describe("the end of what started a child", () => {
  it("an abort of the run travels down to the child, which ends as aborted", async () => {
    const { agent, provider } = helper([{ hang: true }]);
    const results: ChildResult[] = [];
    const tool = delegate(async ({ child }) => void results.push(await child("first", agent, "Find it.")));
    const made = world(delegating, { tools: [tool] });
    const stream = execute(made.session, "Go.");
    await asked(provider, 1);
    await stream.abort();
    expect((await finished(stream.result(), made)).status).toBe("aborted");
    expect(results).toMatchObject([{ status: "aborted", error: { code: "RUN_ABORTED" } }]);
    const child = await made.store.log.read({ scope: "local", session: await childOf(made) });
    expect(child.find(({ type }) => type === "abort.requested")).toMatchObject({ reason: "parent" });
    expect(child.at(-1)).toMatchObject({ type: "run.finished", status: "aborted" });
  });

  it("a child that its tool left behind is aborted with the call", async () => {
    const { agent, provider } = helper([{ hang: true }]);
    const tool = delegate(async ({ child }) => {
      void child("first", agent, "Find it.").catch(() => {});
      await asked(provider, 1);
      return "I do not wait.";
    });
    const made = world(delegating, { tools: [tool] });
    expect((await finished(execute(made.session, "Go.").result(), made)).text).toBe("ok");
    expect(await recorded(made, "run.finished")).toContain("abort.requested");
  });

  it("a child of a tool whose time is up is aborted", async () => {
    const { agent } = helper([{ hang: true }]);
    const made = world(delegating, { tools: [delegate(startsWith(agent), { timeoutMs: 5_000 })] });
    const { messages } = await finished(execute(made.session, "Go.").result(), made);
    expect(JSON.stringify(messages)).toContain("TOOL_TIMEOUT");
    expect(await recorded(made, "run.finished")).toContain("abort.requested");
  });
});

describe("what a child has spent that did not end in time", () => {
  const usage = { input: 7, output: 3 };
  const lost = { input: 5, output: 2 };

  it("B84: counts in the run of its call, also where the call has left it behind", async () => {
    const { agent } = helper(
      [
        { calls: [{ name: "look" }], usage },
        { hang: true, text: "The har" },
      ],
      {
        tools: [defineTool({ name: "look", description: "Looks.", parameters, execute: () => "a door" })],
        prices: fixedPrices({ "scripted-1": { inputUsd: 1, outputUsd: 1 } }),
      },
    );
    const usages = [lost, lost];
    const script = (({ messages }: { readonly messages: readonly { readonly role: string }[] }) =>
      messages.at(-1)?.role === "tool_result" ? { text: "ok", usage: usages[0] } : { calls, usage: usages[1] }) as never;
    const made = world(script, { tools: [delegate(startsWith(agent), { timeoutMs: 5_000 })] });
    await finished(execute(made.session, "Go.").result(), made);
    const facts = await made.facts();
    const end = facts.find(({ type }) => type === "child.finished");
    expect(facts.at(-1)?.type).toBe("run.finished");
    expect(end).toMatchObject({ outcome: "aborted", usage: { source: "estimated" } });
    const { usage: spent } = (await made.store.index.get("local", await childOf(made))) ?? {};
    expect(end).toMatchObject({ usage: spent ?? {} });
    expect([spent?.input ?? 0, spent?.output ?? 0].every((count, at) => count > (at === 0 ? usage.input : usage.output))).toBe(true);
    expect(made.session.totalUsage).toMatchObject({ input: 10 + (spent?.input ?? 0), output: 4 + (spent?.output ?? 0) });
  });

  it("B84: counts as an estimate where the child still runs after the grace of its parent", async () => {
    const { agent } = helper([{ calls: [{ name: "dig" }], usage }], {
      tools: [defineTool({ name: "dig", description: "Digs.", parameters, execute: () => new Promise<never>(() => {}) })],
      limits: { abortGraceMs: 600_000 },
    });
    const made = world((() => ({ calls, usage: lost })) as never, {
      tools: [delegate(startsWith(agent))],
      limits: { abortGraceMs: 1_000 },
    });
    const stream = execute(made.session, "Go.");
    while (!(await made.types()).includes("child.linked") || !(await typesOf(made, await childOf(made))).includes("tool.started"))
      await calm();
    await stream.abort();
    expect((await finished(stream.result(), made)).status).toBe("aborted");
    const end = (await made.facts()).find(({ type }) => type === "child.finished");
    expect(end).toMatchObject({ outcome: "aborted", usage: { ...usage, source: "estimated" }, toolCallCount: 1 });
    expect(made.session.totalUsage).toMatchObject({ input: 12, output: 5, source: "estimated" });
    expect(await typesOf(made, await childOf(made))).not.toContain("run.finished");
  });
});

describe("a child that waits for a person", () => {
  it("is answered at the session of its parent while the tool runs, and the tool gets its result", async () => {
    const remove = defineTool({ name: "remove", description: "Removes.", parameters, approval: true, execute: () => "gone" });
    const { agent } = helper([{ calls: [{ name: "remove" }] }, { text: "removed" }], { tools: [remove] });
    const made = world(delegating, { tools: [delegate(startsWith(agent))] });
    const stream = execute(made.session, "Go.");
    while (!(await made.types()).includes("child.waiting")) await calm();
    expect(made.session.snapshot()).toMatchObject({ status: "running", run: { tools: [{ toolName: "delegate" }] } });
    const [approval] = made.session.pendingApprovals;
    expect(approval).toMatchObject({ toolName: "remove", session: await childOf(made), agent: "helper" });
    await made.session.decide(approval?.callKey ?? "", { decision: "allow" });
    const { messages, text } = await finished(stream.result(), made);
    expect([text, JSON.stringify(messages).includes("removed")]).toEqual(["ok", true]);
  });
});

describe("a process that dies", () => {
  /** One run with a child; the process dies at this append, and another one finishes the run. */
  const crashedAt = async (at: number, when: "before" | "after") => {
    const { agent } = helper();
    const made = processes(delegating, { tools: [delegate(startsWith(agent))] });
    const first = made.boot({ at, when });
    let isOver = false;
    const over = (): void => {
      isOver = true;
    };
    execute(first.session, "Go.")
      .result()
      .then(over, () => {});
    while (!isOver && !first.store.isDead) await calm();
    const { isDead } = first.store;
    if (isDead && (await made.facts()).length > 0) {
      made.outlive();
      const next = made.boot();
      expect((await finished(resume(next.session).result(), made)).text).toBe("ok");
      await calm();
    }
    return { made, isDead };
  };

  it.each(["before", "after"] as const)(
    "%s any append: the next one attaches to the same child, and starts no second one",
    async (when) => {
      let crashes = 0;
      for (let at = 1; ; at++) {
        const { made, isDead } = await crashedAt(at, when);
        if (!isDead) break;
        const types = await made.types();
        if (types.length === 0) continue;
        crashes++;
        const counts = ["child.linked", "child.finished", "tool.finished", "run.finished"].map(
          (type) => types.filter((one) => one === type).length,
        );
        expect([at, ...counts]).toEqual([at, 1, 1, 1, 1]);
        const session = await childOf(made);
        const child = createSession({ agent: helper().agent, id: session, store: made.store, clock: made.clock, drives: false });
        await child.ready();
        const own = await typesOf(made, session);
        expect([at, ...["input.accepted", "run.finished"].map((type) => own.filter((one) => one === type).length)]).toEqual([at, 1, 1]);
        const parent = made.again({ drives: false });
        await parent.ready();
        expect([at, parent.totalUsage?.input]).toEqual([at, child.totalUsage?.input]);
      }
      expect(crashes).toBeGreaterThan(5);
    },
  );

  it("row 31: while the child runs: the next one continues the child where it was", async () => {
    const work = defineTool({ name: "work", description: "Works.", parameters, replay: "idempotent", execute: async () => "worked" });
    const { agent, provider } = helper([{ calls: [{ name: "work" }] }, { hang: true }, { text: "found it" }], { tools: [work] });
    const made = processes(delegating, { tools: [delegate(startsWith(agent))] });
    const first = made.boot();
    execute(first.session, "Go.")
      .result()
      .catch(() => {});
    await asked(provider, 2);
    first.store.kill();
    made.outlive();
    const next = made.boot();
    const result = await finished(resume(next.session).result(), made);
    expect(JSON.stringify(result.messages)).toContain("found it");
    const child = await typesOf(made, await childOf(made));
    expect(child.filter((one) => one === "tool.started" || one === "input.accepted")).toEqual(["input.accepted", "tool.started"]);
    expect([await made.count("child.linked"), provider.requests.length]).toEqual([1, 3]);
  });

  it("that gives its session to another process gives the child along", async () => {
    const { agent, provider } = helper([{ hang: true }, { text: "found it" }]);
    const made = processes(delegating, { tools: [delegate(startsWith(agent))] });
    const first = made.boot();
    execute(first.session, "Go.")
      .result()
      .catch(() => {});
    await asked(provider, 1);
    const next = made.boot();
    const handing = first.session.handOver();
    await finished(handing, made);
    next.session.takeOver();
    const result = await finished(resume(next.session).result(), made);
    expect(JSON.stringify(result.messages)).toContain("found it");
    expect([await made.count("child.linked"), provider.requests.length]).toEqual([1, 2]);
  });
});

describe("hooks that start a child", () => {
  const withHooks = (hooks: Hooks, script: readonly object[] = [{ text: "ok" }]): World => world(script as never, { hooks: [hooks] });

  it("get its result, one for each key in the run, kept apart from those of other hooks", async () => {
    const { agent, provider } = helper([{ text: "one" }, { text: "two" }]);
    const ask = async ({ child }: { child: ToolContext["child"] }) => ({ notices: [(await child("check", agent, "Check.")).text] });
    const made = world([{ text: "no" }, { text: "ok" }], {
      hooks: [
        { name: "first", prepare: ask, decide: ({ turn }) => (turn === 1 ? { action: "continue" } : undefined) },
        { name: "second", prepare: ask },
      ],
    });
    await execute(made.session, "Go.").result();
    const linked = (await made.facts()).flatMap((fact) => (fact.type === "child.linked" ? [[fact.key, fact.callKey]] : []));
    expect([linked, provider.requests.length]).toEqual([
      [
        ["first/check", undefined],
        ["second/check", undefined],
      ],
      2,
    ]);
    expect(JSON.stringify(made.provider.requests[1]?.messages)).toMatch(/one.*two/);
  });

  it.each(["accept", "start"] as const)("are refused at the point `%s`, where no run is open", async (point) => {
    const { agent } = helper();
    let thrown: unknown;
    const start = (context: object): Promise<void> =>
      (context as ToolContext).child("a", agent, "x").then(
        () => {},
        (error) => {
          thrown = error;
        },
      );
    const hooks: Hooks = point === "accept" ? { name: "early", accept: start } : { name: "early", run: { start } };
    const made = withHooks(hooks);
    expect((await execute(made.session, "Go.").result()).status).toBe("completed");
    expect(thrown).toMatchObject({
      code: "CONFIG_INVALID",
      message: "A child can only be started while its run is open.",
      fix: expect.stringContaining("`prepare`"),
    });
    expect(await made.types()).not.toContain("child.linked");
  });
});

it("a child that a hook leaves behind when it stops the run is stopped before the run ends, and counts in it", async () => {
  const begun = Promise.withResolvers<void>();
  const dig = defineTool({
    name: "dig",
    description: "Digs.",
    parameters,
    execute: (_, { signal }) => {
      begun.resolve();
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
  });
  const { agent } = helper([{ calls: [{ name: "dig" }], usage: { input: 10, output: 5 } }], { tools: [dig] });
  let asked = 0;
  const made = world([{ text: "no" }], {
    hooks: [
      {
        name: "stopper",
        async prepare({ child }) {
          asked += 1;
          void child("left", agent, "Work.").catch(() => {});
          await begun.promise;
          return { stop: true, reason: "enough" };
        },
      },
    ],
  });
  const result = await settled(execute(made.session, "Go.").result(), made);
  expect(result).toMatchObject({ status: "completed" });
  const facts = await made.facts();
  expect(facts.map(({ type }) => type).slice(-3)).toEqual(["child.linked", "child.finished", "run.finished"]);
  const end = facts.find((fact) => fact.type === "child.finished");
  expect(end).toMatchObject({ outcome: "aborted", usage: { input: 10, output: 5 }, toolCallCount: 1 });
  expect(result.usage).toMatchObject({ input: 10, output: 5 });
  expect(asked).toBe(1);
});
