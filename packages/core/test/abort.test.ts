import { describe, expect, it } from "vitest";
import { defineTool, execute, type Tool } from "../src/index.ts";
import { calm, deferred, eventsOf, ofType, world } from "./harness.ts";

const tool = (name: string, execute: Tool["execute"], more: Partial<Tool> = {}): Tool =>
  defineTool({ name, description: "A tool.", parameters: { type: "object" }, ...(execute ? { execute } : {}), ...more });

describe("an abort", () => {
  it("in mid-text keeps the text so far and ends the run once", async () => {
    const { session, types } = world([{ text: "half an answer", hang: true }]);
    const stream = execute(session, "x");
    await calm();
    await stream.abort("enough");
    const result = await stream.result();
    expect(result).toMatchObject({ status: "aborted", text: "half an answer", finishReason: "aborted" });
    expect(result.error).toMatchObject({ code: "RUN_ABORTED" });
    expect(session.messages.at(-1)).toMatchObject({ role: "assistant", stopReason: "aborted" });
    const all = await types();
    expect(all.filter((type) => type === "run.finished")).toHaveLength(1);
    expect(session.status).toBe("completed");
  });

  it("by the key of an input stops its run alone, open or waiting, and none for a key that no input has", async () => {
    const { session } = world([{ text: "first", hang: true }, { text: "third" }]);
    const first = execute(session, "one", { idempotencyKey: "k1" });
    await calm();
    const second = execute(session, "two", { idempotencyKey: "k2" });
    const third = execute(session, "three", { idempotencyKey: "k3" });
    await calm();
    expect(await session.abort("no", { inputKey: "other" })).toBe(false);
    expect(await session.abort("no", { inputKey: "k2" })).toBe(true);
    expect(await session.abort("no", { inputKey: "k1" })).toBe(true);
    expect((await first.result()).status).toBe("aborted");
    expect((await second.result()).status).toBe("aborted");
    expect(await third.result()).toMatchObject({ status: "completed", text: "third" });
    expect(await session.abort("no", { inputKey: "k1" })).toBe(false);
  });

  it("by a signal that was aborted before makes no model call, and ends the run that was asked for", async () => {
    const { session, provider, types } = world([{ text: "never" }]);
    const result = await execute(session, "go", { signal: AbortSignal.abort("no more") }).result();
    expect([result.status, provider.requests.length]).toEqual(["aborted", 0]);
    expect((await types()).filter((type) => type.startsWith("model."))).toEqual([]);
    expect(session.messages).toMatchObject([{ role: "user", content: "go" }]);
  });

  it("by a signal in the same moment makes no model call", async () => {
    const { session, provider } = world([{ text: "never" }]);
    const controller = new AbortController();
    const stream = execute(session, "go", { signal: controller.signal });
    controller.abort();
    expect([(await stream.result()).status, provider.requests.length]).toEqual(["aborted", 0]);
  });

  it.each(["prepare", "prompt"])("by a signal while the call is prepared (%s) makes no model call", async (where) => {
    const [entered, left] = [deferred(), deferred()];
    const think = async (): Promise<undefined> => {
      entered.resolve();
      await left.promise;
      return undefined;
    };
    const options =
      where === "prepare" ? { hooks: [{ name: "think", prepare: think }] } : { prompt: () => think().then(() => "Be brief.") };
    const { session, provider } = world([{ text: "never" }], options);
    const controller = new AbortController();
    const stream = execute(session, "go", { signal: controller.signal });
    await entered.promise;
    controller.abort();
    left.resolve();
    expect([(await stream.result()).status, provider.requests.length]).toEqual(["aborted", 0]);
  });

  it("by a signal that was aborted before ends the run that the results continue", async () => {
    const { session, provider } = world([{ calls: [{ name: "pick", id: "a" }] }, { text: "never" }], {
      tools: [defineTool({ name: "pick", description: "Picks.", parameters: { type: "object" } })],
    });
    await execute(session, "go").result();
    const results = [{ role: "tool_result", toolCallId: "a", content: "red" } as const];
    const { status } = await execute(session, results, { signal: AbortSignal.abort() }).result();
    expect([status, provider.requests.length]).toEqual(["aborted", 1]);
  });

  it("signals the provider", async () => {
    const closed = deferred<unknown>();
    const provider = {
      name: "slow",
      defaultModel: "m",
      capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
      async *stream(_: unknown, { signal }: { signal: AbortSignal }) {
        signal.addEventListener("abort", () => closed.resolve(signal.reason));
        yield [{ type: "text", index: 0, delta: "a" } as const];
        await new Promise(() => {});
      },
    };
    const { session } = world([], { provider });
    const stream = execute(session, "x");
    await calm();
    await stream.abort();
    expect(await closed.promise).toMatchObject({ code: "RUN_ABORTED" });
    expect((await stream.result()).text).toBe("a");
  });

  it("drops half-built calls", async () => {
    const { session } = world([
      {
        text: "let me",
        chunks: [[{ type: "call-start", index: 1, name: "t" }], [{ type: "call-args", index: 1, delta: '{"a' }]],
        hang: true,
      },
    ]);
    const stream = execute(session, "x");
    await calm();
    await stream.abort();
    const result = await stream.result();
    expect(JSON.stringify(result.messages)).not.toContain("tool_call");
  });

  it("signals a tool and takes its own end, when it ends in time", async () => {
    const obeys = tool(
      "obeys",
      (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    );
    const { session, facts } = world([{ calls: [{ name: "obeys" }] }], { tools: [obeys] });
    const stream = execute(session, "x");
    await calm();
    await stream.abort();
    expect((await stream.result()).status).toBe("aborted");
    expect((await facts()).find((fact) => fact.type === "tool.finished")).toMatchObject({ outcome: "aborted" });
  });

  it("leaves a tool behind that ignores it, after the grace", async () => {
    const ignores = tool("ignores", () => new Promise(() => {}));
    const { session, clock } = world([{ calls: [{ name: "ignores" }] }], { tools: [ignores] });
    const stream = execute(session, "x");
    await calm();
    await stream.abort();
    await calm();
    expect(session.status).toBe("running");
    clock.advance(5_001);
    expect((await stream.result()).status).toBe("aborted");
  });

  it("gives calls that have not started an aborted result, and the next request is valid", async () => {
    const gate = deferred();
    const first = tool("first", async () => gate.promise.then(() => "ok"), { sequential: true });
    const { session, provider } = world([{ calls: [{ name: "first" }, { name: "first" }] }, { text: "back" }], { tools: [first] });
    const stream = execute(session, "x");
    await calm();
    await stream.abort();
    gate.resolve();
    await stream.result();
    await execute(session, "again").result();
    const results = provider.requests[1]?.messages.filter((message) => message.role === "tool_result");
    expect(results?.map((message) => message.outcome)).toEqual(["ok", "aborted"]);
  });

  it("by a signal, also one that is aborted already, is idempotent", async () => {
    const { session, types } = world([{ text: "abc", hang: true }]);
    const stream = execute(session, "x", { signal: AbortSignal.abort("too late") });
    const result = await stream.result();
    expect(result.status).toBe("aborted");
    await stream.abort();
    await session.abort();
    expect((await types()).filter((type) => type === "abort.requested")).toHaveLength(1);
  });

  it("of a session without a run does nothing", async () => {
    const { session } = world([{ text: "a" }]);
    expect(await session.abort()).toBe(false);
    await execute(session, "x").result();
    expect(await session.abort()).toBe(false);
  });

  it("of a run that still waits ends it as soon as it would begin", async () => {
    const gate = deferred();
    const { session, provider } = world([{ text: "one", after: gate.promise }, { text: "two" }]);
    const first = execute(session, "1");
    const second = execute(session, "2");
    await calm();
    await second.abort();
    gate.resolve();
    expect((await first.result()).text).toBe("one");
    expect((await second.result()).status).toBe("aborted");
    expect(provider.requests).toHaveLength(1);
  });

  it("during the wait before a retry ends the run without another call", async () => {
    const { session, provider } = world([{ error: "MODEL_OVERLOADED" }, { text: "never" }]);
    const stream = execute(session, "x");
    await calm();
    await stream.abort();
    expect((await stream.result()).status).toBe("aborted");
    expect(provider.requests).toHaveLength(1);
  });

  it("is published as aborting, an error with the reason aborted, and the end", async () => {
    const { session } = world([{ text: "abc", hang: true }]);
    const stream = execute(session, "x");
    await calm();
    await stream.abort("enough");
    const events = await eventsOf(stream);
    expect(ofType(events, "aborting")).toHaveLength(1);
    expect(ofType(events, "error")).toEqual([expect.objectContaining({ reason: "aborted" })]);
    expect(ofType(events, "run_end")).toEqual([expect.objectContaining({ status: "aborted", reason: "enough" })]);
  });
});
