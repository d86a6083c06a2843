import { type Agent, agentTool, createAgent, createSession, defineTool, type ExecuteStream, execute, type Tool } from "@loopwright/core";
import { memoryStore, type ScriptedTurn, scripted } from "@loopwright/core/memory";
import type { SessionEvent } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import {
  blocksOf,
  createSessionReader,
  type OrchestratorMessage,
  orchestratorDialect,
  type StreamVersion,
  toolIterationsOf,
} from "../src/index.ts";

const object = { type: "object" } as const;
const plain = defineTool({ name: "plain", description: "Gives JSON.", parameters: object, execute: () => ({ found: 2 }) });
const streams = defineTool({
  name: "streams",
  description: "Streams.",
  parameters: object,
  async *execute() {
    yield "one ";
    yield "two";
  },
});
const fails = defineTool({
  name: "fails",
  description: "Fails.",
  parameters: object,
  execute() {
    throw new Error("broken");
  },
});
const steps = defineTool({
  name: "steps",
  description: "Reports a step that it leaves open.",
  parameters: object,
  execute(_args, { progress }) {
    progress("Reading", { icon: "BOOK" });
    return "read";
  },
});
const tools: readonly Tool[] = [plain, streams, fails, steps];
const turn = (...names: readonly string[]): ScriptedTurn => ({
  thinking: "Hm.",
  text: "I look.",
  calls: names.map((name) => ({ name, id: `${name}-1` })),
});

/** The events and messages of a session of one run. */
const played = (script: readonly ScriptedTurn[]) =>
  playedBy(createAgent({ name: "demo", provider: scripted(script, { chunkSize: 3 }), tools }));

async function playedBy(agent: Agent, meanwhile: (stream: ExecuteStream) => Promise<void> = async () => {}) {
  const session = createSession({ agent, store: memoryStore() });
  const events: SessionEvent[] = [];
  const unsubscribe = session.subscribe((batch) => events.push(...batch));
  const stream = execute(session, "x");
  await meanwhile(stream);
  await stream.result();
  unsubscribe();
  return { events, messages: session.messages, read: (version: StreamVersion) => joined(createSessionReader(version).read(events)) };
}

/** Pieces of one text joined, and ids left out, so that a golden sequence can be read. */
function joined(messages: readonly OrchestratorMessage[]): readonly object[] {
  const out: { type: string; [field: string]: unknown }[] = [];
  for (const message of messages) {
    const last = out.at(-1);
    if ((message.type === "text" || message.type === "reasoning") && last?.type === message.type && last["index"] === message.index)
      last["text"] = `${last["text"]}${message.text}`;
    else if (message.type === "progress") out.push({ ...message, id: message.id.replace(/^[^.]+\./, "") });
    else out.push({ ...message });
  }
  return out;
}

const orders: readonly (readonly ScriptedTurn[])[] = [
  [turn("plain", "streams"), { text: "Done." }],
  [turn("fails"), turn("steps", "plain", "fails"), { thinking: "So.", text: "Done." }],
  [{ text: "Done." }],
];

describe("version 2", () => {
  it("B60, B64, B65, B66, B74, B76, B108: is this sequence for a tool that gives JSON", async () => {
    const { read } = await played([turn("plain"), { text: "Done." }]);
    expect(read(2)).toEqual([
      { type: "reasoning", text: "Hm.", index: 0 },
      { type: "text", text: "I look.", index: 0 },
      { type: "toolCalls", calls: [{ toolCallId: "plain-1", function: "plain", args: {} }], index: 0 },
      { type: "progress", id: "1.0", title: "Selecting tools", icon: "LIGHTBULB", state: "started", index: 1 },
      { type: "toolCallResult", toolCallId: "plain-1", function: "plain", toolResultIndex: 0, index: 2 },
      { type: "progress", id: "1.0/generating", title: "Generating", icon: "WAND", state: "started", index: 2 },
      { type: "toolCallResult", toolCallId: "plain-1", function: "plain", content: '{"found":2}', toolResultIndex: 0, index: 2 },
      { type: "progress", id: "1.0/generating", title: "Generating", icon: "WAND", state: "ended", index: 2 },
      { type: "progress", id: "1.0", title: "Selecting tools", icon: "LIGHTBULB", state: "ended", index: 2 },
      { type: "text", text: "Done.", index: 3 },
      { type: "end", status: "completed", index: 4 },
    ]);
  });

  it("B72: a streaming tool has an empty result first, then its pieces, under the place of its call", async () => {
    const { read } = await played([turn("plain", "streams"), { text: "Done." }]);
    const results = read(2).filter((message) => "function" in message && message.function === "streams");
    expect(results.map((message) => ("content" in message ? message.content : undefined))).toEqual([undefined, "one ", "two"]);
    expect(results).toMatchObject([{ toolResultIndex: 1 }, { toolResultIndex: 1 }, { toolResultIndex: 1 }]);
  });

  it.each(orders.map((script, at) => ({ script, at })))("B59: the index never falls (order $at)", async ({ script }) => {
    const { read } = await played(script);
    const indexes = read(2).map((message) => ("index" in message ? Number(message.index) : -1));
    expect(indexes).toEqual([...indexes].sort((one, other) => one - other));
    expect(indexes).not.toContain(-1);
  });

  it.each(orders.map((script, at) => ({ script, at })))(
    "B75, B89: every step that started ends once, also where a tool fails (order $at)",
    async ({ script }) => {
      const { read } = await played(script);
      const ids = (state: string): readonly unknown[] =>
        read(2)
          .flatMap((message) => ("state" in message && "id" in message && message.state === state ? [message.id] : []))
          .sort();
      expect(ids("ended")).toEqual(ids("started"));
    },
  );

  it("B59: the index never falls beside children that run at once, and counts what they are called by alone", async () => {
    const child = (name: string) =>
      agentTool({ agent: createAgent({ name, provider: scripted([turn("plain", "streams"), { text: `By ${name}.` }]), tools }) });
    const agent = createAgent({
      name: "lead",
      provider: scripted([{ calls: ["first", "second"].map((name) => ({ name, id: name, args: { task: "Go." } })) }, { text: "Done." }]),
      tools: [child("first"), child("second")],
    });
    const { read } = await playedBy(agent);
    const indexes = read(2).map((message) => ("index" in message ? Number(message.index) : -1));
    expect(indexes).toEqual([...indexes].sort((one, other) => one - other));
    expect(indexes).not.toContain(-1);
    const results = read(2).filter((message) => "content" in message && "function" in message);
    expect(results.map((message) => ("content" in message ? message.content : "")).sort()).toEqual(["By first.", "By second."]);
  });

  it("B89: an abort while a tool runs ends every step that started", async () => {
    const begun = Promise.withResolvers<void>();
    const slow = defineTool({
      name: "slow",
      description: "Never ends by itself.",
      parameters: object,
      execute: (_args, { signal, progress }) => {
        progress("Waiting");
        begun.resolve();
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    });
    const agent = createAgent({ name: "demo", provider: scripted([turn("slow")]), tools: [slow] });
    const { read } = await playedBy(agent, async (stream) => {
      await begun.promise;
      await stream.abort();
    });
    const ids = (state: string): readonly unknown[] =>
      read(2)
        .flatMap((message) => ("state" in message && "id" in message && message.state === state ? [message.id] : []))
        .sort();
    expect(ids("started").length).toBeGreaterThan(1);
    expect(ids("ended")).toEqual(ids("started"));
  });

  it("B74: a failed tool has a result that is marked as an error", async () => {
    const { read } = await played([turn("fails"), { text: "Done." }]);
    expect(read(2).filter((message) => "isError" in message)).toMatchObject([{ type: "toolCallResult", function: "fails", isError: true }]);
  });

  it("gives a reader that has missed all deltas the same text", async () => {
    const { events } = await played([turn("plain"), { text: "Done." }]);
    const durable = createSessionReader(2).read(events.filter((event) => "seq" in event));
    expect(joined(durable).filter((message) => "text" in message)).toMatchObject([{ text: "Hm." }, { text: "I look." }, { text: "Done." }]);
  });
});

describe("version 1", () => {
  it("B64: has the whole text, and neither an index nor progress", async () => {
    const { read } = await played([turn("plain"), { text: "Done." }]);
    expect(read(1)).toEqual([
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "I look." },
      { type: "toolCalls", calls: [{ toolCallId: "plain-1", function: "plain", args: {} }] },
      { type: "toolCallResult", toolCallId: "plain-1", function: "plain" },
      { type: "toolCallResult", toolCallId: "plain-1", function: "plain", content: '{"found":2}' },
      { type: "text", text: "Done." },
      { type: "end", status: "completed" },
    ]);
  });
});

describe("the dialect of a server", () => {
  it("B64: is chosen by its version, and each frame names its session", async () => {
    const { events } = await played([{ text: "Done." }]);
    expect([1, 2].map((version) => orchestratorDialect(version as StreamVersion).name)).toEqual(["orchestrator-v1", "orchestrator-v2"]);
    const frames = orchestratorDialect(2).open().events("s1", events);
    expect(frames.at(-1)).toEqual({ event: "end", data: { sessionId: "s1", status: "completed", index: 1 } });
    expect(frames.every(({ data }) => data["sessionId"] === "s1")).toBe(true);
  });
});

describe("stored blocks", () => {
  it("B77, B78, B108: are text, progress and results in this order for a run with one tool, with both steps ended", async () => {
    const { messages } = await played([{ ...turn("plain"), usage: { output: 12, reasoning: 5 } }, { text: "Done." }]);
    expect(blocksOf(messages)).toEqual([
      {
        type: "TEXT",
        toolCalls: [{ toolCallId: "plain-1", function: "plain", args: {} }],
        text: "I look.",
        tokens: 12,
        reasoning: { content: "Hm.", tokens: 5 },
      },
      {
        type: "PROGRESS",
        name: "Selecting tools",
        icon: "LIGHTBULB",
        steps: [
          { title: "Selecting tools", icon: "LIGHTBULB", state: "ended" },
          { title: "Generating", icon: "WAND", state: "ended" },
        ],
        metadata: { toolCallIds: ["plain-1"] },
      },
      { type: "TOOL_RESULT", results: [{ toolCallId: "plain-1", function: "plain", content: [{ type: "json", value: { found: 2 } }] }] },
      { type: "TEXT", text: "Done.", toolCalls: [] },
    ]);
  });

  it("B108: a failed tool leaves ended steps, marked as failed", async () => {
    const { messages } = await played([turn("fails"), { text: "Done." }]);
    expect(blocksOf(messages)[1]).toMatchObject({ steps: [{ state: "ended" }, { title: "Generating", state: "ended", isFailed: true }] });
  });

  it.each([
    { policy: { tools: ["plain"] }, kept: ["plain"] },
    { policy: { without: ["plain"] }, kept: ["streams"] },
    { policy: {}, kept: ["plain", "streams"] },
  ])("B42, B43, B81, B82: with $policy there are calls and results of $kept alone", async ({ policy, kept }) => {
    const { messages } = await played([turn("plain", "streams"), { text: "Done." }]);
    const blocks = blocksOf(messages, policy);
    const called = blocks.flatMap((block) => (block.type === "TEXT" ? block.toolCalls.map((call) => call.function) : []));
    const given = blocks.flatMap((block) => (block.type === "TOOL_RESULT" ? block.results.map((result) => result.function) : []));
    expect([called, given]).toEqual([kept, kept]);
  });

  it("B62: the turns with calls are numbered, each call with its result", async () => {
    const { messages } = await played([turn("plain", "streams"), turn("plain"), { text: "Done." }]);
    expect(toolIterationsOf(messages)).toMatchObject([
      { iteration: 1, toolCalls: [{ name: "plain", args: {}, result: [{ type: "json", value: { found: 2 } }] }, { name: "streams" }] },
      { iteration: 2, toolCalls: [{ name: "plain" }] },
    ]);
  });
});
