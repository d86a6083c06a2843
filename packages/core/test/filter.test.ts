import { assertEventStream } from "@loopwright/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AgentError, type AgentEvent, defineTool, execute, type Hooks, type JsonObject, type ModelChunk, type Tool } from "../src/index.ts";
import type { ScriptedTurn } from "../src/memory/index.ts";
import { calm, eventsOf, ofType, world } from "./harness.ts";

const secret = "SECRET-4711";
const hidden = "[hidden]";
const hide = (text: string): string => text.replaceAll(secret, hidden);
const filter: Hooks = { name: "filter", filter: { holdBack: secret.length, apply: hide } };
/** The same, but it takes its time. */
const slowFilter: Hooks = {
  name: "filter",
  filter: {
    holdBack: secret.length,
    async apply(text) {
      await Promise.resolve();
      return hide(text);
    },
  },
};
const speeds = [
  { speed: "at once", hooks: filter, numRuns: 300 },
  { speed: "after a while", hooks: slowFilter, numRuns: 100 },
] as const;
const schema = { type: "object" } as const;

/** Texts in which the secret stands whole, nearly, and beside what JSON escapes. */
const texts = fc
  .array(fc.constantFrom(secret, "SECRET", "-4711", "SECRET-471", "ECRET-4711", 'so "', "\\", "\n", "👋", "👋👋", "a word ", "é"), {
    maxLength: 8,
  })
  .map((pieces) => pieces.join(""));

type Block = { readonly type: "text" | "thinking" | "call"; readonly text: string; readonly ends: boolean };
const blocks = fc.array(fc.record<Block>({ type: fc.constantFrom("text", "thinking", "call"), text: texts, ends: fc.boolean() }), {
  minLength: 1,
  maxLength: 5,
});

/** Half of the characters as escapes of JSON. */
const escaped = (text: string): string =>
  JSON.stringify(text).replace(/[A-Z]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The text in pieces, cut between any two of its units: also in the middle of a surrogate pair. */
function* piecesOf(text: string, random: () => number): Generator<string> {
  const characters = text.split("");
  for (let from = 0; from < characters.length; ) {
    const to = from + 1 + Math.floor(random() * random() * 12);
    yield characters.slice(from, to).join("");
    from = to;
  }
}

/** The chunks of one block, its first one first. */
function* chunksOf({ type, text, ends }: Block, index: number, random: () => number): Generator<ModelChunk> {
  if (type === "call") {
    yield { type: "call-start", index, id: `c${index}`, name: "act" };
    for (const delta of piecesOf(`{"say": ${ends ? escaped(text) : JSON.stringify(text)}, "n": 1}`, random))
      yield { type: "call-args", index, delta };
    yield { type: "call-end", index };
    return;
  }
  for (const delta of piecesOf(text, random)) yield { type, index, delta };
  if (ends && text !== "") yield { type: "block-end", index };
}

/** The blocks as they come: side by side, in batches. */
function interleaved(all: readonly Block[], random: () => number): readonly (readonly ModelChunk[])[] {
  const open = all.map((block, index) => chunksOf(block, index, random));
  const batches: ModelChunk[][] = [[]];
  while (open.length > 0) {
    const at = Math.floor(random() * open.length);
    const next = open[at]?.next();
    if (next?.done !== false) open.splice(at, 1);
    else batches.at(-1)?.push(next.value);
    if (random() < 0.5) batches.push([]);
  }
  return batches;
}

/** Every text of the world that anybody reads. */
const allOf = async (made: ReturnType<typeof world>, events: readonly AgentEvent[]): Promise<string> => {
  const joined: { [block: string]: string } = {};
  for (const event of events) {
    const block = "index" in event ? `${event.type} ${event.lane}.${event.index}` : event.type;
    if ("delta" in event) joined[block] = (joined[block] ?? "") + event.delta;
  }
  return JSON.stringify([events, await made.facts(), made.provider.requests, made.session.messages, joined]);
};

const act = (execute: Tool["execute"]): Tool =>
  defineTool({ name: "act", description: "Acts.", parameters: schema, ...(execute ? { execute } : {}) });

describe.each(speeds)("a secret in the output of a model, where the filter answers $speed", ({ hooks, numRuns }) => {
  it("reaches no event, no fact, no request and no tool, however blocks are cut and interleave, and nothing else is lost", async () => {
    const seeds = fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }));
    await fc.assert(
      fc.asyncProperty(blocks, seeds, async (all, numbers) => {
        const random = (): number => numbers.next().value ?? 0;
        const got: unknown[] = [];
        const turn: ScriptedTurn = { chunks: interleaved(all, random), stopReason: "stop" };
        const made = world([turn, { text: "done" }], { tools: [act((args) => got.push(args))], hooks: [hooks] });
        const events = await eventsOf(execute(made.session, "go"));
        const read = await allOf(made, events);
        expect(read).not.toContain(secret);
        expect(JSON.stringify(got)).not.toContain(secret);
        expect(got).toEqual(all.flatMap(({ type, text }) => (type === "call" ? [{ say: hide(text), n: 1 }] : [])));
        const written = made.session.messages.find((message) => message.role === "assistant");
        const kept = written?.content.flatMap((part) => (part.type === "text" || part.type === "thinking" ? [part.text] : []));
        const wanted = all.flatMap(({ type, text }) => (type === "call" || text === "" ? [] : [hide(text)]));
        if (written) expect(kept).toEqual(wanted);
        assertEventStream(events);
      }),
      { numRuns },
    );
  });
});

describe("a secret in the output of a model", () => {
  it("is not shown in half by an answer that is cut off", async () => {
    const made = world([{ chunks: [[{ type: "text", index: 0, delta: `the key is ${secret.slice(0, -1)}` }]], hang: true }], {
      hooks: [filter],
    });
    const stream = execute(made.session, "go");
    const reading = eventsOf(stream);
    await calm();
    await stream.abort();
    expect(await allOf(made, await reading)).not.toContain("SECRET");
  });

  it("is hidden where no JSON was written, and in the words of a refusal", async () => {
    const chunks: ModelChunk[][] = [[{ type: "end", stopReason: "error", message: `I will not say ${secret}.` }]];
    const made = world([{ calls: [{ name: "act", argsText: `not JSON: ${secret}` }] }, { chunks }], {
      tools: [act(() => "x")],
      hooks: [filter],
    });
    const read = await allOf(made, await eventsOf(execute(made.session, "go")));
    expect(read).not.toContain(secret);
    expect(read).toContain(`not JSON: ${hidden}`);
    expect(read).toContain(`I will not say ${hidden}.`);
  });

  it("takes the vendor's signature with it wherever in the stream that stands", async () => {
    const signed = (index: number, signature: string): ModelChunk => ({ type: "opaque", index, vendor: "scripted", data: { signature } });
    const thought = (index: number, delta: string): ModelChunk => ({ type: "thinking", index, delta });
    const chunks: ModelChunk[] = [
      ...[signed(0, "before"), thought(0, secret), { type: "block-end", index: 0 } as const],
      ...[thought(1, secret), { type: "block-end", index: 1 } as const, signed(1, "after")],
      ...[signed(2, "before"), thought(2, "plain"), { type: "block-end", index: 2 } as const],
      ...[thought(3, "plain"), { type: "block-end", index: 3 } as const, signed(3, "after")],
    ];
    const made = world([{ chunks: chunks.map((chunk) => [chunk]) }], { hooks: [filter] });
    await execute(made.session, "go").result();
    const written = made.session.messages.find((message) => message.role === "assistant");
    expect(written?.content).toEqual([
      { type: "thinking", text: hidden },
      { type: "thinking", text: hidden },
      { type: "thinking", text: "plain", opaque: { vendor: "scripted", data: { signature: "before" } } },
      { type: "thinking", text: "plain", opaque: { vendor: "scripted", data: { signature: "after" } } },
    ]);
  });

  it("takes the vendor's signature with it, and what only the vendor can read", async () => {
    const opaque = (index: number, data: JsonObject): ModelChunk => ({ type: "opaque", index, vendor: "scripted", data });
    const chunks: ModelChunk[][] = [
      [{ type: "thinking", index: 0, delta: secret }, opaque(0, { signature: "of the secret" })],
      [{ type: "thinking", index: 1, delta: "plain" }, opaque(1, { signature: "kept" })],
      [{ type: "text", index: 2, delta: "said" }, opaque(2, { citation: secret })],
    ];
    const made = world([{ chunks }], { hooks: [filter] });
    await execute(made.session, "go").result();
    const [, written] = made.session.messages;
    expect(written?.role === "assistant" && written.content).toEqual([
      { type: "thinking", text: hidden },
      { type: "thinking", text: "plain", opaque: { vendor: "scripted", data: { signature: "kept" } } },
      { type: "text", text: "said" },
    ]);
  });
});

describe.each(speeds)("a secret in the output of a tool, where the filter answers $speed", ({ hooks }) => {
  it("reaches no event, no fact and no request, however its deltas are cut", async () => {
    const seeds = fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }));
    await fc.assert(
      fc.asyncProperty(texts, seeds, async (text, numbers) => {
        const random = (): number => numbers.next().value ?? 0;
        const streams = act(async function* (_, { progress }) {
          const step = progress(`Opens ${text}`);
          for (const delta of piecesOf(text, random)) yield { type: "delta", delta } as const;
          step.update(`Has read ${text}`);
        });
        const made = world([{ calls: [{ name: "act" }] }, { text: "done" }], { tools: [streams], hooks: [hooks] });
        const events = await eventsOf(execute(made.session, "go"));
        expect(await allOf(made, events)).not.toContain(secret);
        const deltas = ofType(events, "tool_execution_delta").map(({ delta }) => delta);
        expect(deltas.join("")).toBe(hide(text));
        if (text !== "") expect(ofType(events, "tool_execution_end")[0]?.output).toEqual([{ type: "text", text: hide(text) }]);
      }),
      { numRuns: 100 },
    );
  });

  const outputs: { readonly [what: string]: Tool["execute"] } = {
    "an object": () => ({ key: secret, [secret]: [{ deep: `x${secret}` }], n: 1 }),
    "a list of parts": () => [
      { type: "text", text: secret },
      { type: "json", value: { secret } },
    ],
    "a completion": () => ({ type: "complete", output: "fine", details: { raw: secret }, summary: `It was ${secret}.` }),
    "an error that is meant to be read": () => {
      throw new AgentError("FILE_NOT_FOUND", { message: `There is no ${secret}.` });
    },
    "a text that is cut in the middle of it": () => "x".repeat(99_995) + secret,
  };
  it.each(Object.keys(outputs))("is hidden as %s", async (what) => {
    const made = world([{ calls: [{ name: "act" }] }, { text: "done" }], { tools: [act(outputs[what])], hooks: [hooks] });
    const read = await allOf(made, await eventsOf(execute(made.session, "go")));
    expect(read).not.toContain(secret);
    expect(read).not.toContain("xSECR");
    expect(read).toContain(what.includes("cut") ? "[hid" : hidden);
  });

  it("is hidden in what a lookup finds, which the hook review sees too", async () => {
    const reviewed: string[] = [];
    const hooks: Hooks = { ...filter, review: ({ output }) => void reviewed.push(output) };
    const looked: Tool = { ...act(() => new Promise(() => {})), lookup: async () => `It was ${secret}.` };
    const made = world([{ calls: [{ name: "act" }] }, { text: "done" }], { tools: [looked], hooks: [hooks] });
    execute(made.session, "go")
      .result()
      .catch(() => {});
    await calm();
    const events = await (async () => {
      void made.session[Symbol.asyncDispose]();
      await calm();
      return eventsOf(execute(made.again(), "and now?"));
    })();
    expect(reviewed).toContain(`It was ${hidden}.`);
    expect(await allOf(made, events)).not.toContain(secret);
  });
});

describe("a filter that does not answer", () => {
  it("fails the call after ten seconds as its own fault, not the model's, however short the model's deadlines are", async () => {
    const hooks: Hooks = { name: "slow", filter: { apply: () => new Promise<string>(() => {}) } };
    const made = world([{ text: "Hello" }], { hooks: [hooks], deadlines: { idleMs: 1_000 } });
    const result = execute(made.session, "go").result();
    for (let round = 0; round < 11; round++) {
      await calm();
      made.clock.advance(1_000);
    }
    expect(await result).toMatchObject({ status: "error", error: { code: "HOOK_TIMEOUT" } });
    expect(made.provider.requests).toHaveLength(1);
  });
});

describe("an answer that is held until `decide` has spoken", () => {
  const held = (decide: NonNullable<Hooks["decide"]>): ReturnType<typeof world> =>
    world([{ text: `It is ${secret}.`, thinking: "Hm.", chunkSize: 3 }], {
      hooks: [{ name: "guard", filter: { holdTurn: true }, decide }],
    });

  it("comes as a whole once it has", async () => {
    const seen: number[] = [];
    const made = held(() => {
      seen.push(events.length);
    });
    const events: AgentEvent[] = [];
    for await (const event of execute(made.session, "go")) events.push(event);
    const before = events.slice(0, seen[0]).map(({ type }) => type);
    expect(before).not.toContain("text_delta");
    expect(ofType(events, "text_delta").map(({ delta }) => delta)).toEqual([`It is ${secret}.`]);
    assertEventStream(events);
  });

  it("is never shown where `decide` replaces it", async () => {
    const made = held(() => ({ answer: "I may not say." }));
    const events = await eventsOf(execute(made.session, "go"));
    expect(await allOf(made, events)).not.toContain(secret);
    expect(ofType(events, "text_delta").map(({ delta }) => delta)).toEqual(["I may not say."]);
    assertEventStream(events);
  });

  it("is not shown in part where the run is stopped before", async () => {
    const made = world([{ text: secret, chunkSize: 3, hang: true }], {
      hooks: [{ name: "filter", filter: { holdTurn: true }, decide: () => undefined }],
    });
    const stream = execute(made.session, "go");
    const reading = eventsOf(stream);
    await calm();
    expect(JSON.stringify(made.session.lanes())).not.toContain("SEC");
    await stream.abort();
    expect(await allOf(made, await reading)).not.toContain("SEC");
  });
});
