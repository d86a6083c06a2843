import { describe, expect, it } from "vitest";
import { createAgent, createCallGuard, createSession, defineTool, execute, type ModelChunk, resume, type Tool } from "../src/index.ts";
import { memoryStore } from "../src/memory/index.ts";
import { type ManualClock, manualClock } from "../src/memory/manual-clock.ts";
import { seededIds } from "../src/memory/seeded-ids.ts";
import { appendLimits, type Clock, type ModelProvider } from "../src/ports/index.ts";
import { collectOutput } from "../src/tools/collect-tool-output.ts";
import { dyingStore } from "./dying-store.ts";
import { calm, deferred, world } from "./harness.ts";

/* One test for each limit of core that no other suite reaches. */

const object = { type: "object" } as const;
const tool = (name: string, execute: Tool["execute"], more: Partial<Tool> = {}): Tool =>
  defineTool({ name, description: `Is ${name}.`, parameters: object, ...(execute ? { execute } : {}), ...more });

/** Time in steps that leave an owner room to renew its lease. */
async function pass(clock: ManualClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 4_000) {
    clock.advance(Math.min(left, 4_000));
    await calm();
  }
}

/** A model that emits the same batch every 20 seconds and never ends. */
function endless(clock: Clock, batch: readonly ModelChunk[]): ModelProvider {
  return {
    name: "endless",
    defaultModel: "endless-1",
    capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
    async *stream() {
      for (;;) {
        yield batch;
        await new Promise<void>((resolve) => clock.after(20_000, resolve));
      }
    },
  };
}

describe("a model call", () => {
  const failure = async (batch: readonly ModelChunk[], ms: number) => {
    const clock = manualClock();
    const deadlines = { totalMs: 400_000 };
    const agent = createAgent({ name: "a", provider: endless(clock, batch), limits: { attemptsMax: 1 }, deadlines });
    const session = createSession({ agent, clock, store: memoryStore({ clock }), ids: seededIds(1) });
    const result = execute(session, "go").result();
    await calm();
    await pass(clock, ms - 8_000);
    expect(session.status).toBe("running");
    await pass(clock, 12_000);
    return (await result).error;
  };

  it("F3: that sends nothing but pings is given up after five minutes", async () => {
    expect(await failure([{ type: "alive" }], 300_000)).toMatchObject({
      code: "MODEL_TIMEOUT",
      message: expect.stringContaining("only pings"),
    });
  });

  it("F3: that never ends is given up at its total deadline, however much text it sends", async () => {
    const error = await failure([{ type: "text", index: 0, delta: "and " }], 400_000);
    expect(error).toMatchObject({ code: "MODEL_TIMEOUT", message: expect.stringContaining("not complete after 400000 ms") });
  });

  it("waits at most half a minute before its next attempt", async () => {
    const clock = manualClock();
    const callGuard = createCallGuard({ clock, retriesSpare: 12, failuresMax: 12 });
    const options = { limits: { attemptsMax: 12 }, session: { clock, callGuard } };
    const { session, facts } = world((() => ({ error: "MODEL_OVERLOADED" })) as never, options);
    const result = execute(session, "go").result();
    for (let round = 0; round < 40; round++) {
      await calm();
      clock.advance(10_000);
    }
    expect((await result).error?.code).toBe("MODEL_OVERLOADED");
    const waits = (await facts()).flatMap((fact) => (fact.type === "wait.scheduled" ? [fact.until - fact.at] : []));
    expect(waits).toHaveLength(11);
    expect(Math.max(...waits)).toBeLessThanOrEqual(30_000);
    expect(Math.max(...waits)).toBeGreaterThan(10_000);
  });

  it("reads the names of at most fifty tools when it calls one that does not exist", async () => {
    const tools = Array.from({ length: 60 }, (_, n) => tool(`tool${n}`, () => "ok"));
    const { session, provider } = world([{ calls: [{ name: "nowhere" }] }, { text: "ok" }], { tools });
    await execute(session, "go").result();
    const [published] = JSON.stringify(provider.requests[1]?.messages).match(/Available tools: [^"]*/) ?? [];
    expect(published?.match(/tool\d+/g)).toHaveLength(50);
  });
});

describe("a tool", () => {
  it("may open two hundred steps; further ones are not kept", async () => {
    const busy = tool("busy", (_, { progress }) => {
      for (let n = 0; n < 250; n++) progress(`Step ${n}`).end();
      return "ok";
    });
    const { session, facts } = world([{ calls: [{ name: "busy" }] }, { text: "ok" }], { tools: [busy] });
    await execute(session, "go").result();
    const [finished] = (await facts()).filter((fact) => fact.type === "tool.finished");
    expect(finished).toMatchObject({ outcome: "ok", progress: { length: 200 } });
  });

  it("is shown to a late subscriber by the end of its output, at most 128 Ki characters", async () => {
    const gate = deferred();
    const talks = tool(
      "talks",
      async function* () {
        for (let n = 0; n < 700; n++) yield { type: "delta", delta: String(n % 10).repeat(1_000) } as const;
        await gate.promise;
      },
      { outputMax: 1_000_000 },
    );
    const { session } = world([{ calls: [{ name: "talks" }] }, { text: "ok" }], { tools: [talks] });
    const stream = execute(session, "go");
    for (let round = 0; round < 40; round++) await calm();
    const lengths: number[] = [];
    for await (const event of stream) {
      if (event.type !== "tool_execution_snapshot") continue;
      lengths.push(event.output.length);
      expect(event.output.endsWith("9")).toBe(true);
      gate.resolve();
    }
    expect(lengths).toHaveLength(1);
    expect(lengths[0]).toBeGreaterThanOrEqual(64 * 1024);
    expect(lengths[0]).toBeLessThanOrEqual(128 * 1024);
  });

  it("that may run again does so three times in all, then its outcome is unknown", async () => {
    const never = new Promise<string>(() => {});
    const { store, clock, again, facts } = world([{ calls: [{ name: "dies" }] }, { text: "what now?" }], {
      tools: [tool("dies", () => never, { replay: "idempotent" })],
    });
    for (let life = 0; life < 3; life++) {
      const mortal = dyingStore(store);
      const session = again({ store: mortal });
      if (life === 0) execute(session, "go");
      else resume(session);
      await calm();
      mortal.kill();
      clock.advance(20_001);
      await calm();
    }
    expect((await resume(again()).result()).text).toBe("what now?");
    const log = await facts();
    expect(log.flatMap((fact) => (fact.type === "tool.started" ? [fact.attempt] : []))).toEqual([1, 2, 3]);
    expect(log.find((fact) => fact.type === "tool.finished")).toMatchObject({ outcome: "interrupted" });
  });

  it("may take at most as long as a timer can", () => {
    expect(() => tool("patient", () => "ok", { timeoutMs: 2 ** 31 })).toThrow(/`timeoutMs` is out of range/);
    expect(tool("patient", () => "ok", { timeoutMs: 2 ** 31 - 1 }).timeoutMs).toBe(2 ** 31 - 1);
  });
});

describe("the output of a tool", () => {
  const collect = (returned: unknown) => {
    const warnings: string[] = [];
    const options = { name: "t", onWarning: (message: string) => void warnings.push(message) };
    return collectOutput(returned as never, options).then((result) => ({ ...result, warnings }));
  };

  it("keeps details of a million characters and drops longer ones with a warning", async () => {
    const details = (length: number) => ({ type: "complete", output: "ok", details: "x".repeat(length - 2) });
    expect((await collect(details(1_000_000))).details).toHaveLength(999_998);
    const { details: dropped, warnings } = await collect(details(1_000_001));
    expect(dropped).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining("too large")]);
  });

  it("keeps images of twenty million characters in all and names those left out", async () => {
    const image = (length: number) => ({ type: "image", mediaType: "image/png", source: { data: "A".repeat(length) } });
    const { output } = await collect([image(19_999_999), image(1), image(1)]);
    expect(output.map(({ type }) => type)).toEqual(["image", "image", "text"]);
  });

  it("may hold a million values", async () => {
    const values = (count: number) => new Array<number>(count).fill(0);
    expect((await collect(values(999_999))).outcome).toBe("ok");
    const { outcome, output } = await collect(values(1_000_000));
    expect(outcome).toBe("error");
    expect(JSON.stringify(output)).toContain("more than 1000000 values");
  });
});

describe("a batch", () => {
  const batchesOf = async (inputs: readonly string[]) => {
    const store = dyingStore(memoryStore());
    const { session } = world(() => ({ text: "ok" }), { session: { store } });
    await Promise.all(inputs.map((input) => execute(session, input).result()));
    return store.batches.map(({ facts }) => facts);
  };

  it("takes at most 64 inputs", async () => {
    const batches = await batchesOf(Array.from({ length: 100 }, (_, n) => `say ${n}`));
    const counts = batches.map((facts) => facts.filter(({ type }) => type === "input.accepted").length);
    expect(Math.max(...counts)).toBe(64);
    expect(counts.reduce((sum, count) => sum + count)).toBe(100);
  });

  it("takes no further input once it weighs half a megabyte", async () => {
    const batches = await batchesOf(Array.from({ length: 8 }, (_, n) => String(n).repeat(80_000)));
    const counts = batches.map((facts) => facts.filter(({ type }) => type === "input.accepted").length);
    expect(Math.max(...counts)).toBe(3);
    expect(Math.max(...batches.map((facts) => JSON.stringify(facts).length))).toBeLessThan(appendLimits.batchBytes);
  });
});

describe("an owner", () => {
  it("whose log has no `subscribe` looks four times a second for records of others", async () => {
    const clock = manualClock();
    const { subscribe: _, ...mute } = memoryStore({ clock }).log;
    const store = { ...memoryStore({ clock }), log: mute };
    const { session, again } = world([{ text: "half", hang: true }], { session: { store, clock } });
    const result = execute(session, "go").result();
    await calm();
    expect(await (await again().ready()).abort("elsewhere")).toBe(true);
    clock.advance(249);
    await calm();
    expect(session.status).toBe("running");
    clock.advance(1);
    expect((await result).status).toBe("aborted");
  });
});

describe("an agent", () => {
  it.each([0, -1, Number.NaN, 2 ** 31])("refuses %s as a deadline", (totalMs) => {
    const { provider } = world([]);
    expect(() => createAgent({ name: "a", provider, deadlines: { totalMs } })).toThrow(/`deadlines.totalMs`/);
  });
});
