import { AgentError } from "@loopwright/core";
import { describe, expect, it } from "vitest";
import { asking, collect } from "../test/collect.ts";
import { scripted } from "./index.ts";

const usage = { input: 10, output: 3 };

describe("scripted", () => {
  it("plays its turns in order and remembers every request", async () => {
    const provider = scripted([{ text: "one" }, { thinking: "hm", text: "two", usage }]);
    const requests = [asking("a"), asking("b")] as const;
    const first = await collect(provider, requests[0]);
    const second = await collect(provider, requests[1]);
    expect(first.parts).toEqual([{ type: "text", text: "one" }]);
    expect(first.chunks.some((chunk) => chunk.type === "usage")).toBe(false);
    expect(second.parts).toEqual([
      { type: "thinking", text: "hm" },
      { type: "text", text: "two" },
    ]);
    expect(second.chunks.at(-2)).toEqual({ type: "usage", usage });
    expect(second.end).toEqual({ type: "end", stopReason: "stop", raw: "stop", model: "m" });
    expect(provider.requests).toEqual(requests);
    expect(provider.remaining).toBe(0);
  });

  it("reports that the script is exhausted", async () => {
    const provider = scripted([{ text: "one" }]);
    await collect(provider, asking("a"));
    const { error } = await collect(provider, asking("b"));
    expect(error).toMatchObject({
      code: "CONFIG_INVALID",
      message: "The script of provider `scripted` is exhausted: it has 1 turns and was asked for number 2.",
    });
    expect(provider.requests).toHaveLength(2);
  });

  it("sends calls with ids counted over the whole script, broken arguments as they are, and ends with tool_calls", async () => {
    const provider = scripted([
      { text: "x", calls: [{ name: "a", args: { n: 1 } }, { name: "b" }] },
      { calls: [{ name: "c", argsText: '{"n":' }] },
      { calls: [{ name: "d", id: "" }] },
    ]);
    const first = await collect(provider, asking("1"));
    expect(first.parts.slice(1)).toMatchObject([
      { id: "call_1", name: "a", args: { n: 1 } },
      { id: "call_2", name: "b", args: {} },
    ]);
    expect(first.end?.stopReason).toBe("tool_calls");
    expect((await collect(provider, asking("2"))).parts).toMatchObject([{ id: "call_3", problem: "invalid_json", argsText: '{"n":' }]);
    expect((await collect(provider, asking("3"))).parts).toMatchObject([{ id: "run.1.0", name: "d" }]);
  });

  it("cuts every block into deltas of the chunk size without cutting a character", async () => {
    const { batches, text } = await collect(scripted([{ text: "ab🌱cd" }], { chunkSize: 3 }), asking("a"));
    expect(batches.map((batch) => batch[0])).toMatchObject([{ delta: "ab🌱" }, { delta: "cd" }, { type: "end" }]);
    expect(text).toBe("ab🌱cd");
  });

  it("throws the error of a turn after its content, from a code or as it is", async () => {
    const own = new AgentError("MODEL_REFUSED", { message: "no" });
    const provider = scripted([{ text: "half", error: "MODEL_OVERLOADED" }, { error: own }]);
    const first = await collect(provider, asking("a"));
    expect(first.text).toBe("half");
    expect(first.end).toBeUndefined();
    expect(first.error).toMatchObject({ code: "MODEL_OVERLOADED", retryable: true });
    expect((await collect(provider, asking("b"))).error).toBe(own);
  });

  it("hangs until it is aborted, then throws the signal's reason", async () => {
    const controller = new AbortController();
    const stream = scripted([{ text: "half", hang: true }]).stream(asking("a"), { signal: controller.signal, attempt: 1 });
    const reader = stream[Symbol.asyncIterator]();
    expect((await reader.next()).value).toEqual([{ type: "text", index: 0, delta: "half" }]);
    const next = reader.next();
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(next).rejects.toBe(reason);
  });

  it("waits for what a turn waits for", async () => {
    const order: string[] = [];
    const after = new Promise<void>((resolve) => {
      setImmediate(() => {
        order.push("opened");
        resolve();
      });
    });
    const stream = scripted([{ text: "late", after }]).stream(asking("a"), { signal: new AbortController().signal, attempt: 1 });
    for await (const [chunk] of stream) order.push(chunk?.type ?? "empty");
    expect(order).toEqual(["opened", "text", "end"]);
  });

  it("can break off without an end, and yield exact batches", async () => {
    const end = { type: "end", stopReason: "length", raw: "max_tokens" } as const;
    const provider = scripted([
      { text: "half", breaksOff: true },
      { chunks: [[{ type: "text", index: 1, delta: "b" }], [{ type: "text", index: 0, delta: "a" }, end]] },
    ]);
    expect((await collect(provider, asking("a"))).end).toBeUndefined();
    const second = await collect(provider, asking("b"));
    expect(second.text).toBe("ab");
    expect(second.chunks.filter((chunk) => chunk.type === "end")).toEqual([end]);
  });

  it("asks a function for the turn of each request", async () => {
    const provider = scripted((request, call) => ({ text: `${call}: ${request.model}` }), {
      name: "mine",
      model: "big",
      capabilities: { vision: false },
    });
    expect((await collect(provider, asking("a"))).text).toBe("1: m");
    expect(provider.remaining).toBe(Number.POSITIVE_INFINITY);
    expect(provider).toMatchObject({ name: "mine", defaultModel: "big" });
    expect(provider.capabilities("big")).toMatchObject({ vision: false, tools: true });
    const steps = scripted([(request) => ({ text: request.model })]);
    expect((await collect(steps, asking("a"))).text).toBe("m");
  });

  it("makes no request of an aborted signal", async () => {
    const provider = scripted([{ text: "x" }]);
    const { error } = await collect(provider, asking("a"), { signal: AbortSignal.abort("stop") });
    expect(error).toBe("stop");
    expect(provider.requests).toHaveLength(0);
  });
});
