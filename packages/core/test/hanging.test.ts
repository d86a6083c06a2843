import { describe, expect, it } from "vitest";
import { defineTool, execute, type Hooks, resume } from "../src/index.ts";
import { calm, deferred, howStands, world } from "./harness.ts";

const never = <T>(): Promise<T> => new Promise<T>(() => {});
const parameters = { type: "object" } as const;
const hookMs = 600_000;

/** Lets time pass as a process that is awake sees it. */
async function pass(clock: { advance(ms: number): void }, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 2_000) {
    clock.advance(Math.min(2_000, ms - passed));
    await calm();
  }
}

const points: readonly [string, Hooks][] = [
  ["prepare", { name: "prepare", prepare: never }],
  ["gate", { name: "gate", gate: never }],
  ["review", { name: "review", review: never }],
  ["decide", { name: "decide", decide: never }],
];

describe("user code that hangs", () => {
  it.each(points)("in the hook %s does not outlive an abort", async (_, hooks) => {
    const tool = defineTool({ name: "work", description: "Works", parameters, execute: () => "done" });
    const { session, clock, types, store } = world([{ calls: [{ name: "work" }] }], { tools: [tool], hooks: [hooks] });
    const stream = execute(session, "hi");
    await calm();
    await stream.abort();
    await pass(clock, 6_000);
    expect(await howStands(stream.result())).toBe("resolved");
    expect((await stream.result()).status).toBe("aborted");
    expect((await types()).at(-1)).toBe("run.finished");
    expect((await store.log.head({ scope: "local", session: "s1" })).lease).toBeUndefined();
    expect(clock.pending).toBe(0);
  });

  it.each(points)("in the hook %s ends by itself after ten minutes", async (_, hooks) => {
    const tool = defineTool({ name: "work", description: "Works", parameters, execute: () => "done" });
    const { session, clock, types } = world([{ calls: [{ name: "work" }] }, { text: "ok" }], { tools: [tool], hooks: [hooks] });
    const stream = execute(session, "hi");
    await calm();
    await pass(clock, hookMs + 1);
    expect(await howStands(stream.result())).toBe("resolved");
    expect((await types()).at(-1)).toBe("run.finished");
    expect(clock.pending).toBe(0);
  });

  it("is notified by its signal", async () => {
    let signal: AbortSignal | undefined;
    const prepare: Hooks["prepare"] = (context) => {
      signal = context.signal;
      return never();
    };
    const { session } = world([], { hooks: [{ name: "prepare", prepare }] });
    const stream = execute(session, "hi");
    await calm();
    expect(signal?.aborted).toBe(false);
    await stream.abort();
    expect(signal?.aborted).toBe(true);
  });

  it("in a gate does not keep the result of another call out of the log", async () => {
    const open = deferred<undefined>();
    const quick = deferred<string>();
    const tools = [
      defineTool({ name: "quick", description: "Works", parameters, execute: () => quick.promise }),
      defineTool({ name: "asked", description: "Works", parameters, execute: () => "allowed" }),
    ];
    const hooks: Hooks = { name: "gate", gate: ({ tool }) => (tool.name === "asked" ? open.promise : undefined) };
    const turns = [{ calls: [{ name: "quick" }, { name: "asked" }] }, { text: "ok" }];
    const { session, types } = world(turns, { tools, hooks: [hooks] });
    const stream = execute(session, "hi");
    await calm();
    await session.change({ title: "while it asks" });
    expect((await types()).filter((type) => type === "tool.started")).toHaveLength(1);
    quick.resolve("done");
    await calm();
    expect((await types()).filter((type) => type === "tool.finished")).toHaveLength(1);
    open.resolve(undefined);
    expect((await stream.result()).text).toBe("ok");
    expect((await types()).filter((type) => type === "tool.started")).toHaveLength(2);
  });
});

describe("a lookup that hangs", () => {
  it("keeps neither the run nor the lease after an abort", async () => {
    const tool = defineTool({ name: "work", description: "Works", parameters, execute: never, lookup: never });
    const { session, again, clock, store, types } = world([{ calls: [{ name: "work" }] }, { text: "ok" }], { tools: [tool] });
    execute(session, "hi");
    await calm();
    await session[Symbol.asyncDispose]();
    const next = again();
    const stream = resume(next);
    await calm();
    expect(await howStands(stream.result())).toBe("pending");
    await stream.abort();
    expect((await stream.result()).status).toBe("aborted");
    await calm();
    expect((await types()).at(-1)).toBe("run.finished");
    expect((await store.log.head({ scope: "local", session: "s1" })).lease).toBeUndefined();
    expect(clock.pending).toBe(0);
  });
});
