import { assertEventStream } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { AgentError, type AgentEvent, createAssembler, defineTool, execute, type ModelChunk, textOf } from "../src/index.ts";
import { deferred, eventsOf, ofType, world } from "./harness.ts";

const object = { type: "object" } as const;
const thinking = (index: number, delta: string): ModelChunk => ({ type: "thinking", index, delta });
const signature = (index: number, data: string): ModelChunk => ({ type: "opaque", index, vendor: "v", data });
const sum = (events: readonly { readonly delta: string }[]): string => events.map(({ delta }) => delta).join("");
const typesOf = (events: readonly AgentEvent[]): readonly string[] => events.map(({ type }) => type);

/** The types in order, runs of one type listed once. */
function outline(events: readonly AgentEvent[], wanted: RegExp): readonly string[] {
  return typesOf(events).filter((type, i, all) => wanted.test(type) && type !== all.slice(0, i).findLast((before) => wanted.test(before)));
}

describe("the stream of an answer", () => {
  it("D01: costs per event in proportion to its piece, not to the text before it", async () => {
    const text = "0123456789".repeat(10_000);
    const { session } = world([{ text, chunkSize: 100 }]);
    const events = await eventsOf(execute(session, "go"));
    const deltas = ofType(events, "text_delta");
    expect(deltas).toHaveLength(1_000);
    expect(sum(deltas)).toBe(text);
    expect(Math.max(...deltas.map((event) => JSON.stringify(event).length))).toBeLessThan(300);
  });

  it("D02, D08, D09: streams thinking before text, each with a start, its deltas and an end that is their sum", async () => {
    const { session } = world([{ thinking: "let me see", text: "seen it" }]);
    const events = await eventsOf(execute(session, "go"));
    expect(outline(events, /^(text|thinking)_/)).toEqual([
      "thinking_start",
      "thinking_delta",
      "thinking_end",
      "text_start",
      "text_delta",
      "text_end",
    ]);
    expect(ofType(events, "thinking_end")[0]?.thinking).toBe(sum(ofType(events, "thinking_delta")));
    expect(ofType(events, "text_end")[0]?.text).toBe(sum(ofType(events, "text_delta")));
  });

  it("D03: streams arguments as they come, and their pieces add up to the arguments of the call", async () => {
    const argsText = '{"city":"Bern","days":3}';
    const { session } = world([{ calls: [{ name: "ask", argsText }], chunkSize: 3 }], {
      tools: [defineTool({ name: "ask", description: "Asks.", parameters: object })],
    });
    const events = await eventsOf(execute(session, "go"));
    const deltas = ofType(events, "toolcall_delta");
    expect(deltas).toHaveLength(8);
    expect(JSON.parse(sum(deltas))).toEqual(ofType(events, "toolcall_end")[0]?.toolCall.args);
  });

  it("D04: publishes each delta of a tool before the tool continues", async () => {
    const received = deferred();
    const tool = defineTool({
      name: "talks",
      description: "Talks.",
      parameters: object,
      async *execute() {
        yield { type: "delta", delta: "first" } as const;
        await received.promise; // Would hang if the delta came with the result.
        yield { type: "delta", delta: " last" } as const;
      },
    });
    const { session } = world([{ calls: [{ name: "talks" }] }, { text: "ok" }], { tools: [tool] });
    const deltas: string[] = [];
    for await (const event of execute(session, "go")) {
      if (event.type !== "tool_execution_delta") continue;
      deltas.push(event.delta);
      received.resolve();
    }
    expect(deltas).toEqual(["first", " last"]);
  });

  it("D05, D06: brackets every message, gives the answer's usage and cost, and ends with the new messages alone", async () => {
    const usage = { input: 3, output: 2 };
    const { session } = world(
      [
        { text: "one", usage },
        { text: "two", usage },
      ],
      { prices: { costOf: () => ({ totalUsd: 0.25 }) } },
    );
    await execute(session, "first").result();
    const events = await eventsOf(execute(session, "second"));
    const starts = ofType(events, "message_start").map(({ role }) => role);
    const ends = ofType(events, "message_end");
    expect(starts).toEqual(["user", "assistant"]);
    expect(ends.map(({ message }) => message.role)).toEqual(starts);
    expect(ends[1]).toMatchObject({ usage, cost: { totalUsd: 0.25 }, message: { usage, cost: { totalUsd: 0.25 } } });
    expect(ofType(events, "session_start")).toEqual([{ type: "session_start", sessionId: "s1" }]);
    expect(ofType(events, "session_end")[0]?.messages).toEqual(session.messages.slice(2));
  });

  it("D10: distinguishes interleaved calls by their index", async () => {
    const start = (index: number): ModelChunk => ({ type: "call-start", index, id: `c${index}`, name: "ask" });
    const args = (index: number, delta: string): ModelChunk => ({ type: "call-args", index, delta });
    const chunks = [[start(0), start(1)], [args(1, '{"n":'), args(0, '{"n"')], [args(0, ":1}")], [args(1, "2}")]];
    const { session } = world([{ chunks, stopReason: "tool_calls" }], {
      tools: [defineTool({ name: "ask", description: "Asks.", parameters: object })],
    });
    const events = await eventsOf(execute(session, "go"));
    for (const index of [0, 1]) {
      const text = sum(ofType(events, "toolcall_delta").filter((event) => event.index === index));
      const end = ofType(events, "toolcall_end").find((event) => event.index === index);
      expect(end?.toolCall).toMatchObject({ id: `c${index}`, args: JSON.parse(text) });
    }
  });

  it("B65, B66: shows text, reasoning, calls and results, and the whole call before its tool starts", async () => {
    const tool = defineTool({ name: "act", description: "Acts.", parameters: object, execute: () => "done" });
    const { session } = world([{ thinking: "hm", text: "I will", calls: [{ name: "act" }] }, { text: "ok" }], { tools: [tool] });
    const events = await eventsOf(execute(session, "go"));
    expect(outline(events, /^(text_delta|thinking_delta|toolcall_(start|end)|tool_execution_(start|end))$/)).toEqual([
      "thinking_delta",
      "text_delta",
      "toolcall_start",
      "toolcall_end",
      "tool_execution_start",
      "tool_execution_end",
      "text_delta",
    ]);
    const shown = events.findIndex((event) => event.type === "message_end" && event.message.role === "assistant");
    expect(shown).toBeLessThan(typesOf(events).indexOf("tool_execution_start"));
  });

  it("D19: is made of small values that survive JSON", async () => {
    const tool = defineTool({ name: "act", description: "Acts.", parameters: object, execute: () => "x".repeat(20_000) });
    const script = [{ thinking: "hm", text: "y".repeat(20_000), calls: [{ name: "act" }] }, { text: "ok" }];
    const { session } = world(script, { tools: [tool] });
    const events = await eventsOf(execute(session, "go"));
    expect(JSON.parse(JSON.stringify(events))).toEqual(events);
    const small = events.filter(({ type }) => !/_end$/.test(type));
    expect(Math.max(...small.map((event) => JSON.stringify(event).length))).toBeLessThan(1_000);
  });
});

describe("reasoning", () => {
  it("B68: of two blocks that interleave becomes two whole blocks, each with its last signature", () => {
    const assembler = createAssembler();
    const chunks = [
      thinking(0, "a"),
      thinking(1, "x"),
      signature(0, "old"),
      thinking(0, "b"),
      signature(1, "s1"),
      thinking(1, "y"),
      signature(0, "s0"),
    ];
    for (const chunk of chunks) assembler.push(chunk);
    expect(assembler.finish("run.1").parts).toEqual([
      { type: "thinking", text: "ab", opaque: { vendor: "v", data: "s0" } },
      { type: "thinking", text: "xy", opaque: { vendor: "v", data: "s1" } },
    ]);
  });

  it("B68: that interleaves is stored whole, and published without a contradiction", async () => {
    for (const chunks of [
      [[thinking(0, "a")], [thinking(1, "x")], [thinking(0, "b")], [signature(1, "s")]],
      [[thinking(0, "a"), thinking(1, "x"), thinking(0, "b"), signature(1, "s")]],
    ]) {
      const { session } = world([{ chunks }]);
      const events = await eventsOf(execute(session, "go"));
      assertEventStream(events);
      expect(ofType(events, "message_snapshot")[0]?.content).toMatchObject([{ text: "ab" }, { text: "x" }]);
      expect(session.messages[1]).toMatchObject({ content: [{ text: "ab" }, { text: "x", opaque: { data: "s" } }] });
    }
  });

  it("B78: is stored with its number of tokens, and without one when the vendor did not report it", async () => {
    const { session, facts } = world([{ thinking: "hm", text: "one", usage: { input: 5, output: 9, reasoning: 4 } }, { text: "two" }]);
    await execute(session, "1").result();
    await execute(session, "2").result();
    const finished = (await facts()).flatMap((fact) => (fact.type === "model.finished" ? [fact.message] : []));
    expect(finished[0]).toMatchObject({ content: [{ type: "thinking", text: "hm" }, { type: "text" }], usage: { reasoning: 4 } });
    expect(finished[1]?.usage).toBeUndefined();
  });
});

describe("the stream of a tool", () => {
  const events = async (run: () => never) => {
    const tool = defineTool({ name: "t", description: "Is tried.", parameters: object, execute: run });
    const { session } = world([{ calls: [{ name: "t", id: "c1" }] }, { text: "ok" }], { tools: [tool] });
    return eventsOf(execute(session, "go"));
  };
  const delta = (text: string) => ({ type: "delta", delta: text }) as const;

  it("B06, B72: begins with a frame that names the call, then its pieces, then the result: plain, streaming or failing", async () => {
    const plain = await events((() => "whole") as never);
    const streaming = await events(async function* () {
      yield delta("a");
      yield delta("b");
    } as never);
    const failing = await events((() => {
      throw new Error("no");
    }) as never);
    const start = { toolCallId: "c1", toolName: "t", args: {} };
    for (const published of [plain, streaming, failing])
      expect(ofType(published, "tool_execution_start")).toEqual([expect.objectContaining(start)]);
    const wanted = /^tool_execution_/;
    expect(outline(plain, wanted)).toEqual(["tool_execution_start", "tool_execution_end"]);
    expect(outline(streaming, wanted)).toEqual(["tool_execution_start", "tool_execution_delta", "tool_execution_end"]);
    expect(ofType(failing, "tool_execution_end")[0]).toMatchObject({ toolCallId: "c1", outcome: "error" });
  });

  it("B09, B72, D31: stores what the tool returned or completed with, else the concatenation of its pieces", async () => {
    const stored = async (run: () => AsyncGenerator<unknown, unknown>) => {
      const [result] = ofType(await events(run as never), "tool_execution_end");
      return result?.output;
    };
    const completed = stored(async function* () {
      yield delta("a");
      yield { type: "complete", output: "whole" };
      yield delta("too late");
    });
    const returned = stored(async function* () {
      yield delta("a");
      return "returned";
    });
    const joined = stored(async function* () {
      yield delta("a");
      yield delta("b");
    });
    expect([await completed, await returned, await joined].flat()).toEqual([
      { type: "text", text: "whole" },
      { type: "text", text: "returned" },
      { type: "text", text: "ab" },
    ]);
  });

  it("B74: gives a value as JSON at its call's place, and an error marked as one", async () => {
    const value = await events((() => ({ sum: 3 })) as never);
    expect(ofType(value, "tool_execution_end")[0]).toMatchObject({
      callKey: expect.stringMatching(/\.1\.0$/),
      output: [{ type: "json", value: { sum: 3 } }],
    });
    const failed = await events((() => {
      throw new Error("no");
    }) as never);
    const result = ofType(failed, "message_end").find(({ message }) => message.role === "tool_result")?.message;
    expect(result).toMatchObject({ isError: true, outcome: "error" });
  });
});

describe("an unstreamed model call", () => {
  it("A41, C64: gives the same message as a streamed one, as one delta", async () => {
    const turn = { thinking: "hm", text: "a whole answer" };
    const streamed = world([turn]);
    await execute(streamed.session, "go").result();
    const buffered = world([{ ...turn, chunkSize: 1_000 }], { stream: false });
    const published = await eventsOf(execute(buffered.session, "go"));
    expect(buffered.provider.requests[0]?.stream).toBe(false);
    expect(streamed.provider.requests[0]?.stream).toBeUndefined();
    expect(buffered.session.messages).toEqual(streamed.session.messages);
    expect(ofType(published, "text_delta")).toHaveLength(1);
    const timings = (await buffered.facts()).flatMap((fact) => (fact.type === "model.finished" ? [fact.timings] : []));
    expect(timings[0]).not.toHaveProperty("firstTokenMs");
  });

  it("A41: is what a model without streaming gets, and one without tools gets no tools", async () => {
    const tool = defineTool({ name: "act", description: "Acts.", parameters: object, execute: () => "done" });
    const { session, provider } = world([{ text: "plain" }], { tools: [tool], parallelToolCalls: true });
    Object.assign(provider, { capabilities: () => ({ streaming: false, tools: false, vision: false, promptCaching: false }) });
    const result = await execute(session, "go").result();
    expect(provider.requests[0]).toMatchObject({ stream: false });
    expect(Object.keys(provider.requests[0] ?? {})).not.toContain("tools");
    expect(provider.requests[0]).not.toHaveProperty("parallelToolCalls");
    expect(result.messages.map((message) => (message.role === "assistant" ? textOf(message) : message.role))).toEqual(["user", "plain"]);
  });
});

describe("an execution", () => {
  it("D25: gives its result without, after and twice after it was iterated, and refuses a second iteration", async () => {
    const turns = () => world([{ text: "Hello." }]).session;
    expect((await execute(turns(), "go").result()).text).toBe("Hello.");
    const stream = execute(turns(), "go");
    expect(typesOf(await eventsOf(stream))).toContain("text_delta");
    expect(await stream.result()).toEqual(await stream.result());
    await expect(eventsOf(stream)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("D26: has a status that shows whether it waits, and the messages and the usage of its own", async () => {
    const paint = defineTool({ name: "paint", description: "Paints.", parameters: object });
    const usage = { input: 10, output: 2 };
    const { session } = world(
      [
        { calls: [{ name: "paint", args: {} }], usage },
        { text: "Done.", usage },
      ],
      { tools: [paint] },
    );
    const waiting = await execute(session, "go").result();
    expect(waiting).toMatchObject({ status: "awaiting_tool_execution", pendingToolCalls: [{ toolName: "paint" }] });
    expect(waiting.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    const [call] = waiting.pendingToolCalls ?? [];
    const done = await execute(session, [{ role: "tool_result", toolCallId: call?.toolCallId ?? "", content: "Painted." }]).result();
    expect(done).toMatchObject({ status: "completed", text: "Done.", usage: { input: 10, output: 2 } });
    await expect(
      execute(world([{ error: new AgentError("MODEL_BAD_REQUEST", { message: "No." }) }]).session, "go").result(),
    ).resolves.toMatchObject({
      status: "error",
      error: { code: "MODEL_BAD_REQUEST" },
    });
  });
});
