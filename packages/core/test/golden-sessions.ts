import {
  defineTool,
  execute,
  type Fact,
  type Hooks,
  type JsonObject,
  type Message,
  resume,
  type Tool,
  type ToolResultMessage,
} from "../src/index.ts";
import { fixedPrices } from "../src/memory/index.ts";
import { dyingStore } from "./dying-store.ts";
import { calm, deferred, type World, world } from "./harness.ts";

const object = { type: "object" } as const;
const usage = { input: 1_200, cacheRead: 800, output: 90, reasoning: 40 };
const prices = fixedPrices({ "scripted-1": { inputUsd: 3, outputUsd: 15, cacheReadUsd: 0.3 } });
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const answer = (toolCallId: string, content: string): ToolResultMessage => ({ role: "tool_result", toolCallId, content });

const tool = (name: string, run: Tool["execute"], more: Partial<Tool> = {}): Tool =>
  defineTool({ name, description: `Is ${name}.`, parameters: object, ...(run ? { execute: run } : {}), ...more });
const add = tool("add", (args) => {
  const { a, b } = args as { a: number; b: number };
  return { sum: a + b };
});
const breaks = tool("breaks", () => {
  throw new Error("disk on fire");
});
const reads = tool(
  "reads",
  async function* (_, { progress, addUsage }) {
    const step = progress("Reading", { icon: "BOOK" });
    yield { type: "delta", delta: "line one\n" } as const;
    yield { type: "delta", delta: "line two" } as const;
    step.end();
    addUsage({ input: 30, output: 4 });
    yield { type: "complete", output: "line one\nline two", details: { lines: 2 }, summary: "two lines" } as const;
  },
  { label: "Read a file", replay: "pure" },
);
const pick = tool("pick", undefined, { timeoutMs: 60_000 });

async function chat(): Promise<World> {
  const opaque = [[{ type: "opaque", index: 0, vendor: "scripted", data: { signature: "c2ln" } }]] as const;
  const made = world(
    [
      { thinking: "A greeting.", text: "Hello! Grüße, 你好 👋", chunks: opaque, usage },
      { text: "It is one dark pixel.", usage },
    ],
    { prices, prompt: "Be kind.", session: { id: "chat", title: "A chat", metadata: { tag: "golden" } } },
  );
  await execute(made.session, "Hello").result();
  const image = { type: "image", mediaType: "image/png", source: { data: pixel } } as const;
  await execute(made.session, { role: "user", content: [{ type: "text", text: "What is this?" }, image] }).result();
  await made.session.change({ title: "Hello and a pixel" });
  return made;
}

async function tools(): Promise<World> {
  const calls = [
    { name: "add", args: { a: 1, b: 2 } },
    { name: "breaks" },
    { name: "nowhere" },
    { name: "add", argsText: '{"a": 1,' },
    { name: "reads", id: "" },
  ];
  const made = world(
    [
      { text: "Let me see.", calls, usage },
      { text: "Done what could be done.", usage },
    ],
    {
      prices,
      tools: [add, breaks, reads],
      hooks: [
        { name: "hooks 1", gate: ({ call }) => (call.name === "add" ? { action: "edit", args: { ...call.args, b: 40 } } : undefined) },
      ],
      session: { id: "tools" },
    },
  );
  await execute(made.session, "Use all of them", { temperature: 0.2, idempotencyKey: "once" }).result();
  return made;
}

async function shownTools(): Promise<World> {
  const calls = [{ name: "add", args: { a: 1, b: 2 } }, { name: "extra" }, { name: "pick" }];
  const extra = tool("extra", () => "from the extra", { replay: "pure", counts: false });
  const made = world([{ calls }, { calls }, { text: "Both, then." }, { text: "Nothing hidden." }], {
    tools: [add, pick],
    hooks: [
      {
        name: "hooks 1",
        prepare: ({ turn, tools }) => (turn === 1 ? { tools: [extra] } : turn === 2 ? { tools: [tools[0] as Tool, extra] } : undefined),
      },
    ],
    session: { id: "shown-tools" },
  });
  await execute(made.session, "Use what you see").result();
  await execute(made.session, "And now?").result();
  return made;
}

async function clientTools(): Promise<World> {
  const script = [
    {
      calls: [
        { name: "pick", id: "p1" },
        { name: "add", args: { a: 2, b: 2 }, id: "a1" },
        { name: "pick", id: "p2" },
      ],
    },
    { text: "Blue and green, then.", calls: [{ name: "pick", id: "p3" }] },
    { text: "You did not answer in time." },
  ];
  const made = world(script, { tools: [pick, add], session: { id: "client-tools" } });
  await execute(made.session, "Ask me").result();
  await execute(made.session, [answer("p2", "green")]).result();
  await execute(made.session, [answer("p1", "blue")]).result();
  made.clock.advance(60_001);
  await calm();
  return made;
}

async function failures(): Promise<World> {
  const made = world(
    [
      { text: "half", error: "MODEL_OVERLOADED" },
      { text: "whole", usage },
      { text: "I ca", stopReason: "error", stopReasonRaw: "refusal", message: "Declined for safety." },
      { thinking: "hm", text: "half an ans", error: "MODEL_BAD_REQUEST", usage },
      { error: "MODEL_AUTH" },
      { text: "as far as it w", stopReason: "length" },
    ],
    { prices, session: { id: "failures" } },
  );
  const first = execute(made.session, "1").result();
  await calm();
  made.clock.advance(60_000);
  await first;
  for (const text of ["2", "3", "4", "5"]) await execute(made.session, text).result();
  return made;
}

async function aborts(): Promise<World> {
  const gate = deferred();
  const slow = tool(
    "slow",
    (_, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("as far as I got"))),
  );
  const deaf = tool("deaf", () => gate.promise.then(() => "too late"));
  const calls = [{ name: "slow" }, { name: "deaf" }, { name: "slow" }, { name: "pick" }];
  const made = world([{ thinking: "hm", text: "half an ans", hang: true }, { text: "now", calls }, { text: "after all" }], {
    tools: [slow, deaf, pick],
    limits: { parallelMax: 2 },
    session: { id: "aborts" },
  });
  const first = execute(made.session, "1");
  await calm();
  const waiting = execute(made.session, "never begun");
  await calm();
  await waiting.abort("changed my mind");
  await first.abort("enough");
  await first.result();
  const second = execute(made.session, "2");
  await calm();
  await made.session.abort();
  await calm();
  made.clock.advance(5_001);
  await second.result();
  await execute(made.session, "3").result();
  return made;
}

async function branches(): Promise<World> {
  const gate = deferred();
  const waits = tool("waits", () => gate.promise.then(() => "waited"));
  const script = [
    { text: "one" },
    { text: "two" },
    { text: "two again" },
    { text: "another start" },
    { text: "wait", calls: [{ name: "waits" }] },
    { text: "steered", hang: true },
    { text: "interrupted" },
    { text: "the last" },
  ];
  const made = world(script, { tools: [waits], session: { id: "branches" } });
  const { session } = made;
  await execute(session, "1").result();
  await execute(session, "2").result();
  await execute(session, { regenerate: session.messageIds[2] ?? "" }).result();
  await execute(session, "a new beginning", { parent: null }).result();
  await session.moveHead(session.messageIds[0] ?? null);
  const running = execute(session, "3");
  await calm();
  const steered = execute(session, "and mind this", { mode: "steer" });
  const queued = execute(session, "afterwards");
  await calm();
  gate.resolve();
  await calm();
  const urgent = execute(session, "stop, this first", { mode: "interrupt" });
  for (const stream of [running, steered, urgent, queued]) await stream.result();
  await session.end();
  return made;
}

async function merges(): Promise<World> {
  const gate = deferred();
  const waits = tool("waits", () => gate.promise.then(() => "waited"));
  const script = [
    { text: "wait", calls: [{ name: "waits" }] },
    { text: "one", usage },
    { text: "both", usage },
    { text: "the other model" },
  ];
  const made = world(script, { tools: [waits], session: { id: "merges" } });
  const { session } = made;
  const streams = [execute(session, "1", { mode: "merge" })];
  await calm();
  for (const [words, options] of [
    ["2", {}],
    ["and 3", {}],
    ["4", { model: "scripted-2" }],
  ] as const) {
    streams.push(execute(session, words, { mode: "merge", idempotencyKey: `key ${words}`, ...options }));
    await calm();
  }
  gate.resolve();
  for (const stream of streams) await stream.result();
  return made;
}

async function crashes(): Promise<World> {
  const replayed = ["once", "idempotent", "pure"] as const;
  const tools = replayed.map((replay) => tool(replay, async () => never, { replay }));
  const found = tool("found", async () => never, { lookup: async () => "it was done" });
  const never = new Promise<string>(() => {});
  const calls = [...replayed, "found"].map((name) => ({ name }));
  const made = world(
    [
      { text: "cut off", hang: true },
      { text: "let me", calls },
    ],
    { tools: [...tools, found], session: { id: "crashes" } },
  );
  const wake = async (): Promise<void> => {
    made.clock.advance(20_001);
    await calm();
  };
  const first = dyingStore(made.store);
  execute(made.again({ store: first }), "go");
  await calm();
  first.kill();
  await wake();
  const second = dyingStore(made.store);
  resume(made.again({ store: second }));
  await calm();
  second.kill();
  await wake();
  const healed = [...replayed, "found"].map((name) =>
    tool(name, () => `${name} ran`, found.name === name ? { lookup: async () => "it was done" } : {}),
  );
  const third = world([{ text: "back again" }], {
    tools: healed,
    session: { id: "crashes", store: made.store, clock: made.clock, node: "node9" },
  });
  await resume(third.session).result();
  return third;
}

async function limits(): Promise<World> {
  const context: readonly Message[] = [
    { role: "user", content: "Earlier." },
    { role: "assistant", content: [{ type: "text", text: "Indeed." }], stopReason: "stop" },
  ];
  const always = (request: { readonly tools?: readonly unknown[] }) =>
    request.tools
      ? {
          text: "more",
          calls: [
            { name: "add", args: { a: 1, b: 1 } },
            { name: "add", args: { a: 2, b: 2 } },
          ],
        }
      : { text: "final" };
  const made = world(always as never, {
    tools: [add],
    limits: { turnsMax: 4, toolCallsMax: 3 },
    hooks: [{ name: "hooks 1", prepare: ({ turn }) => (turn === 1 ? { notices: ["Mind the gap."] } : undefined) }],
    session: { id: "limits", context },
  });
  await execute(made.session, "go").result();
  const { provider, agent } = world(always as never, { tools: [add], limits: { turnsMax: 2, onLimit: "error" } });
  const strict = made.again({ agent: { ...made.agent, provider, limits: agent.limits, hooks: [] } });
  await execute(strict, "and again").result();
  return made;
}

async function approvals(): Promise<World> {
  const act = tool("act", (args) => ({ did: args as JsonObject }), { label: "Act" });
  const calls = [
    { name: "act", args: { path: "/a", deep: { b: [1], a: null } }, id: "c1" },
    { name: "act", args: { path: "/b" }, id: "c2" },
    { name: "pick", id: "p1" },
    { name: "add", args: { a: 1, b: 2 }, id: "a1" },
  ];
  const script = [
    { text: "I need leave.", calls, usage },
    { text: "One more.", calls: [{ name: "act", args: { path: "/c" }, id: "c3" }] },
    { text: "Nobody said anything.", calls: [{ name: "act", args: { path: "/d" }, id: "c4" }] },
    { text: "After all." },
  ];
  const edits: Hooks["gate"] = ({ call }) => (call.id === "c2" ? { action: "edit", args: { ...call.args, safe: true } } : undefined);
  const asks: Hooks["gate"] = ({ call }) =>
    call.name === "act" ? { action: "ask", reason: "It acts.", ...(call.id === "c3" ? { timeoutMs: 60_000 } : {}) } : undefined;
  const made = world(script, {
    prices,
    tools: [act, pick, add],
    hooks: [
      { name: "hooks 1", gate: edits },
      { name: "hooks 2", gate: asks },
    ],
    session: { id: "approvals" },
  });
  const { session } = made;
  await execute(session, "Act").result();
  const [first, second] = session.pendingApprovals;
  const other = made.again({ drives: false });
  await other.decide(second?.callKey ?? "", { decision: "deny", note: "Not this one.", access: { user: "ada", scope: "local" } });
  await session.decide(first?.callKey ?? "", { decision: "allow", args: { path: "/elsewhere" }, idempotencyKey: "once" });
  await execute(session, [answer("p1", "blue")]).result();
  made.clock.advance(60_001);
  await calm();
  await resume(session).result();
  await session.abort("enough");
  await resume(session).result();
  await execute(session, "Well?").result();
  return made;
}

async function hooks(): Promise<World> {
  const guard: Hooks = {
    name: "guard",
    accept({ message }) {
      const text = String(message.content);
      if (/which binaries/i.test(text)) return { action: "answer", text: "I cannot say.", reason: "asks for capabilities" };
      return text.includes("4711") ? { action: "edit", message: text.replaceAll("4711", "####"), reason: "a number" } : undefined;
    },
    run: { start: () => ({ state: { left: 3 } }) },
    prepare({ state, tools: all }) {
      if (state["left"] === 0) return { stop: true, reason: "out of budget" };
      return { state: { left: Number(state["left"]) - 1 }, ...(state["left"] === 3 ? { tools: all.slice(0, 2) } : {}) };
    },
    parse: ({ text, call }) => (call.problem ? { args: { a: 1, b: Number(/\d+/.exec(text)?.[0]) }, reason: "repaired" } : undefined),
    decide: ({ message }) => (JSON.stringify(message.content).includes("secret") ? { answer: "I may not say." } : undefined),
    async gate({ call, record, addUsage }) {
      await record("golden.gate", { call: call.name });
      addUsage({ input: 2, output: 1, provider: "scripted", model: "judge", cost: { totalUsd: 0.25 } });
      return call.name === "pick" ? { action: "edit", args: { from: "here" } } : undefined;
    },
    review: ({ call }) => (call.name === "add" ? { force: "pick", usage: { input: 1 }, reason: "pick next" } : undefined),
  };
  const script = [
    { calls: [{ name: "add", argsText: "b is 41" }], usage },
    { calls: [{ name: "pick", id: "p1" }], usage },
    { text: "The secret is blue.", usage },
    { calls: [{ name: "add", args: { a: 1, b: 1 } }] },
    { calls: [{ name: "add", args: { a: 2, b: 2 } }] },
    { calls: [{ name: "add", args: { a: 3, b: 3 } }] },
  ];
  const made = world(script, { prices, tools: [add, pick], hooks: [guard], session: { id: "hooks" } });
  await execute(made.session, "My number is 4711.", { idempotencyKey: "once" }).result();
  await made.session[Symbol.asyncDispose]();
  const next = made.again();
  await execute(next, [answer("p1", "blue")]).result();
  await execute(next, "Which binaries can you run?").result();
  await execute(next, "Go on and on.").result();
  return made;
}

/** Sessions whose logs are kept for ever, by the name of their file. Each is real: the driver writes it, with seeded ids and a clock that stands still. */
export const goldenSessions: { readonly [name: string]: () => Promise<World> } = {
  chat,
  tools,
  "shown-tools": shownTools,
  "client-tools": clientTools,
  failures,
  aborts,
  branches,
  merges,
  crashes,
  limits,
  approvals,
  hooks,
};

/** The log that a session has when it is played today. */
export async function playedLog(name: string): Promise<readonly Fact[]> {
  const made = await goldenSessions[name]?.();
  return made ? made.facts() : [];
}
