import { describe, expect, it } from "vitest";
import { execute, type Fact, type ModelChunk } from "../src/index.ts";
import { memoryStore } from "../src/memory/index.ts";
import { seededIds } from "../src/memory/seeded-ids.ts";
import { createChunkMender } from "../src/message/mend-chunks.ts";
import { createValidHistory } from "../src/prompt/valid-history.ts";
import { eventsOf, ofType, world } from "./harness.ts";

const [first, second] = ["\ud83d", "\ude80"];
const rocket = "\u{1f680}";
const halves = /\p{Surrogate}/u;
const isSound = (value: unknown): boolean => {
  if (typeof value === "string") return !halves.test(value);
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, member]) => isSound(name) && isSound(member));
};

describe("the text of a model is well-formed before it is a fact", () => {
  it.each<[string, { readonly text?: string; readonly thinking?: string; readonly chunks?: readonly (readonly ModelChunk[])[] }]>([
    ["text that the token limit cut", { text: `Up ${first}` }],
    ["thinking that the token limit cut", { thinking: `Up ${first}`, text: "Well." }],
    ["a second half alone", { text: `${second} Up` }],
    [
      "a call: its name, its raw arguments, and arguments that escape a half",
      {
        chunks: [
          [{ type: "call-start", index: 0, id: `c${first}`, name: `na${first}me` }],
          [{ type: "call-args", index: 0, delta: '{"a\\ud83d": ["\\ude80"]}' }],
          [{ type: "call-end", index: 0 }],
          [{ type: "call-start", index: 1, id: "d", name: "cut" }],
          [{ type: "call-args", index: 1, delta: `{"a": "${first}` }],
          [{ type: "call-end", index: 1 }],
        ],
      },
    ],
    ["opaque data", { text: "Well.", chunks: [[{ type: "opaque", index: 4, vendor: "v", data: { written: [`${first}!`] } }]] }],
  ])("%s", async (_, written) => {
    const { session, facts, provider } = world([{ ...written, stopReason: "length" }, { text: "Fine." }, { text: "Fine." }]);
    const events = await eventsOf(execute(session, "Go."));
    await execute(session, "And on.").result();
    expect(isSound(events)).toBe(true);
    expect(isSound(await facts())).toBe(true);
    expect(isSound(provider.requests.map(({ messages }) => messages))).toBe(true);
  });

  it("a pair that is cut between two deltas is published and kept whole", async () => {
    const deltas = ["Up ", first, `${second}${first}`, second, "."];
    const chunks = deltas.map((delta): readonly ModelChunk[] => [{ type: "text", index: 0, delta }]);
    const { session } = world([{ chunks }]);
    const stream = execute(session, "Go.");
    const published = ofType(await eventsOf(stream), "text_delta").map(({ delta }) => delta);
    expect(published.every(isSound)).toBe(true);
    expect(published.join("")).toBe(`Up ${rocket}${rocket}.`);
    expect((await stream.result()).messages.at(-1)).toMatchObject({ content: [{ type: "text", text: `Up ${rocket}${rocket}.` }] });
  });

  it("text that a filter parts is well-formed all the same, and so is what was held of a failed answer", async () => {
    const filter = { holdBack: 1, apply: (text: string) => text };
    const { session, facts } = world([{ text: `${rocket}${rocket}${first}`, chunkSize: 1, error: "MODEL_BAD_REQUEST" }], {
      hooks: [{ name: "parts", filter }] as never,
    });
    const events = await eventsOf(execute(session, "Go."));
    const published = ofType(events, "text_delta").map(({ delta }) => delta);
    expect(published.every(isSound)).toBe(true);
    expect(isSound(await facts())).toBe(true);
  });
});

describe("the mender", () => {
  it("keeps halves of calls apart whose arguments alternate", () => {
    const mender = createChunkMender();
    const args = (index: number, delta: string): ModelChunk => ({ type: "call-args", index, delta });
    const out = mender.pass([args(0, `a${first}`), args(1, `b${first}`), args(0, second), args(1, second)]);
    const written = [0, 1].map((at) => out.map((chunk) => (chunk.type === "call-args" && chunk.index === at ? chunk.delta : "")).join(""));
    expect(written).toEqual([`a${rocket}`, `b${rocket}`]);
  });

  it("gives a stream without surrogates as it is", () => {
    const chunks: readonly ModelChunk[] = [
      { type: "text", index: 0, delta: "plain" },
      { type: "end", stopReason: "stop" },
    ];
    expect(
      createChunkMender()
        .pass(chunks)
        .every((chunk, at) => chunk === chunks[at]),
    ).toBe(true);
  });
});

it("a session that an older build poisoned is asked about without the half", async () => {
  const { session, facts } = world([{ text: "Up!" }]);
  await execute(session, "Go.").result();
  const poisoned = JSON.parse(JSON.stringify(await facts()).replaceAll("Up!", "Up \\ud83d")) as readonly Fact[];
  const store = memoryStore();
  const ref = { scope: "local", session: "s1" };
  const claim = await store.log.claim(ref, { node: "old", leaseMs: 1_000 });
  const epoch = claim.type === "claimed" ? claim.epoch : 0;
  const request = { expectedSeq: 0, batchId: "old", facts: poisoned.map(({ seq: _, epoch: __, ...body }) => body), epoch, release: true };
  expect(await store.log.append(ref, request as never)).toMatchObject({ type: "ok" });
  const later = world([{ text: "Fine." }], { session: { store, ids: seededIds(99) } });
  await execute(later.session, "And on.").result();
  expect(later.provider.requests).toHaveLength(1);
  expect(isSound(later.provider.requests[0]?.messages)).toBe(true);
  expect(JSON.stringify(later.provider.requests[0]?.messages)).toContain("Up \uFFFD");
});

it("a history mends every kind of message", () => {
  const history = createValidHistory();
  history.take([
    { role: "user", content: [{ type: "json", value: { [`k${first}`]: second } }] },
    { role: "notice", text: first },
    { role: "assistant", content: [{ type: "text", text: `a${first}` }], stopReason: "length" },
  ]);
  expect(isSound(history.messages)).toBe(true);
});
