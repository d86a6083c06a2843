import { describe, expect, it } from "vitest";
import { answerLimits } from "../src/driver/model/answer-size-limits.ts";
import { createAgent, createAssembler, createSession, execute, type ModelChunk } from "../src/index.ts";
import type { ModelProvider } from "../src/ports/index.ts";

/** A model that emits these batches, whatever it is asked. */
function writing(batches: Iterable<readonly ModelChunk[]>, onLeave = (): void => {}): ModelProvider {
  return {
    name: "acme",
    defaultModel: "acme-1",
    capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
    async *stream(_, { signal }) {
      signal.addEventListener("abort", onLeave);
      yield* batches;
      yield [{ type: "end", stopReason: "stop" }];
    },
  };
}

async function run(batches: Iterable<readonly ModelChunk[]>) {
  let left = false;
  const provider = writing(batches, () => {
    left = true;
  });
  const session = createSession({ agent: createAgent({ name: "a", provider }) });
  const result = await execute(session, "go").result();
  return { ...result, left };
}

const calls = (count: number): ModelChunk[] =>
  Array.from({ length: count }, (_, index): ModelChunk[] => [
    { type: "call-start", index, id: `c${index}`, name: "nobody" },
    { type: "call-end", index },
  ]).flat();

function* repeated(chunk: ModelChunk, count: number): Generator<readonly ModelChunk[]> {
  for (let at = 0; at < count; at++) yield [chunk];
}

describe("an answer over a limit is MODEL_PROTOCOL, tried once, and its call is closed", () => {
  it.each<[string, Iterable<readonly ModelChunk[]>, keyof typeof answerLimits]>([
    ["16,000 tool calls in one read", [calls(16_000)], "callsMax"],
    ["one tool call too many", [calls(answerLimits.callsMax + 1)], "callsMax"],
    ["a block of number four billion", [[{ type: "text", index: 4_000_000_000, delta: "x" }]], "blocksMax"],
    ["a block of a negative number", [[{ type: "text", index: -1, delta: "x" }]], "blocksMax"],
    ["a block of half a number", [[{ type: "opaque", index: 0.5, vendor: "acme", data: 1 }]], "blocksMax"],
    ["too much text", repeated({ type: "text", index: 0, delta: "x".repeat(1024 * 1024) }, 9), "textMax"],
    ["too much of arguments", repeated({ type: "call-args", index: 0, delta: "x".repeat(1024 * 1024) }, 9), "textMax"],
    ["too much that is opaque", repeated({ type: "opaque", index: 0, vendor: "acme", data: "x".repeat(1024 * 1024) }, 33), "opaqueMax"],
  ])("%s", async (_, batches, limit) => {
    const { error, left } = await run(batches);
    expect(error).toMatchObject({
      code: "MODEL_PROTOCOL",
      retryable: false,
      message: expect.stringContaining(String(answerLimits[limit])),
    });
    expect(left).toBe(true);
  });
});

describe("an answer at its limits", () => {
  it("has all its text, also in pieces of one character", async () => {
    const batch = Array.from({ length: 4_096 }, (): ModelChunk => ({ type: "text", index: answerLimits.blocksMax - 1, delta: "x" }));
    const { text } = await run(Array.from({ length: 64 }, () => batch));
    expect(text.length).toBe(4_096 * 64);
  });

  it("is put together in no time, whatever number a block has", () => {
    const assembler = createAssembler();
    assembler.push({ type: "text", index: 4_000_000_000, delta: "second" });
    assembler.push({ type: "text", index: 3, delta: "first" });
    expect(assembler.partial()).toMatchObject([{ text: "first" }, { text: "second" }]);
  });
});
