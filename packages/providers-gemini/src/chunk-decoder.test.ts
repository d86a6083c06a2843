import { readFileSync } from "node:fs";
import { chunkFlaws } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { answerWith, call, canned, eventsOf } from "../test/canned.ts";

const fixture = readFileSync(new URL("../test/fixtures/tool-turn.sse", import.meta.url));
const signature = "c2lnbmF0dXJlLTE=";

function cut(bytes: Uint8Array, size: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
}

async function parts(...answers: readonly unknown[]) {
  const answer = await call(canned(eventsOf(...answers)).fetch);
  expect(chunkFlaws(answer.chunks)).toEqual([]);
  return answer.parts;
}

describe("an answer of Gemini", () => {
  it.each([1, 13, 100_000])("is the same in pieces of %i bytes", async (size) => {
    const answer = await call(canned(() => cut(fixture, size)).fetch);
    expect(chunkFlaws(answer.chunks)).toEqual([]);
    expect(answer.parts).toEqual([
      { type: "thinking", text: "**Planning**\n\nI need the weather." },
      { type: "text", text: "I look at Berlin – and Köln 🌧." },
      {
        type: "tool_call",
        callKey: "run.1.0",
        id: "w1",
        name: "weather",
        args: { city: "Berlin" },
        opaque: { vendor: "gemini", data: { thoughtSignature: signature } },
      },
      { type: "tool_call", callKey: "run.1.1", id: "run.1.1", name: "weather", args: { city: "Köln" } },
    ]);
    expect(answer.ended).toEqual({ stopReason: "tool_calls", raw: "STOP", model: "gemini-3.8-flash" });
    // 120 read of which 100 from the cache, 5 by the vendor's tools; 30 written and 12 thought.
    expect(answer.usage).toEqual({ input: 25, cacheRead: 100, output: 42, reasoning: 12, total: 167 });
  });

  it("keeps a signature on its very part, joined with no other", async () => {
    expect(
      await parts(
        answerWith([{ text: "a" }], null),
        answerWith([{ text: "b" }], null),
        answerWith([{ text: "c", thoughtSignature: "s1" }], null),
        answerWith([{ text: "d" }], null),
        answerWith([{ text: "", thoughtSignature: "s2" }]),
      ),
    ).toEqual([
      { type: "text", text: "ab" },
      { type: "text", text: "c", opaque: { vendor: "gemini", data: { thoughtSignature: "s1" } } },
      { type: "text", text: "d" },
      { type: "opaque", vendor: "gemini", data: { part: { text: "", thoughtSignature: "s2" } } },
    ]);
  });

  it("keeps the parts of tools that the vendor ran, whole and in place", async () => {
    const code = { executableCode: { language: "PYTHON", code: "print(1)" }, thoughtSignature: "s" };
    const result = { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } };
    expect(await parts(answerWith([{ text: "x" }, code, result, { text: "y" }]))).toEqual([
      { type: "text", text: "x" },
      { type: "opaque", vendor: "gemini", data: { part: code } },
      { type: "opaque", vendor: "gemini", data: { part: result } },
      { type: "text", text: "y" },
    ]);
  });

  it("puts streamed arguments together by their paths", async () => {
    const piece = (partialArgs: readonly unknown[], willContinue = true) =>
      answerWith([{ functionCall: { partialArgs, willContinue } }], null);
    const [found, second] = await parts(
      answerWith([{ functionCall: { name: "book", id: "b1", willContinue: true }, thoughtSignature: "s" }], null),
      piece([{ jsonPath: "$.city", stringValue: "New ", willContinue: true }]),
      piece([
        { jsonPath: "$.city", stringValue: "York" },
        { jsonPath: "$.days[0].n", numberValue: 2 },
      ]),
      piece([
        { jsonPath: "$.days[1].n", numberValue: 3 },
        { jsonPath: "$['odd key']", boolValue: true },
        { jsonPath: "$.none", nullValue: "NULL_VALUE" },
      ]),
      answerWith([{ functionCall: {} }], null),
      answerWith([{ functionCall: { name: "next", args: {} } }]),
    );
    expect(found).toMatchObject({
      id: "b1",
      name: "book",
      args: { city: "New York", days: [{ n: 2 }, { n: 3 }], "odd key": true, none: null },
      opaque: { data: { thoughtSignature: "s" } },
    });
    expect(second).toMatchObject({ name: "next", args: {} });
  });

  it("never takes arguments that were cut off for whole ones", async () => {
    const answer = await call(
      canned(
        eventsOf(
          answerWith([{ functionCall: { name: "book", willContinue: true } }], null),
          answerWith(
            [{ functionCall: { partialArgs: [{ jsonPath: "$.city", stringValue: "New ", willContinue: true }], willContinue: true } }],
            "MAX_TOKENS",
          ),
        ),
      ).fetch,
    );
    expect(answer.parts).toMatchObject([{ name: "book", args: {}, problem: "truncated" }]);
    expect(answer.ended?.stopReason).toBe("length");
  });

  it("leaves keys that no object may have, huge indexes and deep paths to the check of the arguments", async () => {
    const of = async (jsonPath: string) => {
      const partialArgs = [{ jsonPath, numberValue: 1 }];
      const [part] = await parts(
        answerWith([{ functionCall: { name: "f", willContinue: true } }], null),
        answerWith([{ functionCall: { partialArgs } }]),
      );
      return part;
    };
    expect(await of("$.__proto__.x")).toMatchObject({ problem: "forbidden_key" });
    expect(await of(`$${".a".repeat(20_000)}`)).toMatchObject({ problem: "too_deep" });
    expect(await of("$.list[4000000000]")).toMatchObject({ args: { list: [1] } });
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  it.each([
    ["STOP", "stop"],
    ["MAX_TOKENS", "length"],
    ["CONTINUATION", "length"],
    ["SAFETY", "error"],
    ["RECITATION", "error"],
    ["BLOCKLIST", "error"],
    ["PROHIBITED_CONTENT", "error"],
    ["SPII", "error"],
    ["MALFORMED_FUNCTION_CALL", "error"],
    ["UNEXPECTED_TOOL_CALL", "error"],
    ["OTHER", "error"],
    ["A_NEW_WORD", "error"],
  ])("that finishes with %s ends with %s and keeps the word", async (reason, stopReason) => {
    const { ended } = await call(canned(eventsOf(answerWith([{ text: "x" }], reason, { finishMessage: "The vendor's own words." }))).fetch);
    expect(ended).toMatchObject({ stopReason, raw: reason });
    if (stopReason === "error") expect(ended?.message).toMatch(/^Gemini .*\. The vendor's own words\.$/);
    else expect(ended).not.toHaveProperty("message");
  });

  it("that was blocked before it began is an error that a person can read", async () => {
    const { ended, parts: none } = await call(canned(eventsOf({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } })).fetch);
    expect(none).toEqual([]);
    expect(ended).toMatchObject({ stopReason: "error", raw: "PROHIBITED_CONTENT", message: expect.stringContaining("blocked the prompt") });
  });

  it("without usage has none, instead of zeros", async () => {
    const { usage } = await call(canned(eventsOf(answerWith([{ text: "x" }]))).fetch);
    expect(usage).toBeUndefined();
  });

  it("may bring content after its finish reason", async () => {
    const { parts: found } = await call(canned(eventsOf(answerWith([{ text: "a" }]), answerWith([{ text: "b" }]))).fetch);
    expect(found).toEqual([{ type: "text", text: "ab" }]);
  });
});
