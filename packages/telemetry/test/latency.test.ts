import { createAgent, createSession, defineTool, execute, type Tool } from "@loopwright/core";
import { manualClock, memoryStore, scripted } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import {
  type EventStore,
  type LatencyRecord,
  latencyEvents,
  latencyReport,
  latencyRoute,
  latencyStream,
  memoryEvents,
  turnObserver,
} from "../src/index.ts";
import { telemetryFile } from "../src/sqlite/index.ts";
import { observed, timed } from "./observed-run.ts";
import { anne, operator, telemetryServer } from "./telemetry-server.ts";

const usage = { input: 100, cacheRead: 900, output: 10 };
const clockTool = (clock: { advance(ms: number): void }, ms = 40): Tool =>
  defineTool({
    name: "look",
    description: "Looks.",
    parameters: { type: "object" },
    execute() {
      clock.advance(ms);
      return "A door.";
    },
  });
const recordsOf = async (events: EventStore): Promise<readonly LatencyRecord[]> =>
  (await events.read(latencyStream)).map(({ data }) => data as LatencyRecord);

const stores: readonly (readonly [string, (clock: ReturnType<typeof manualClock>) => EventStore])[] = [
  ["memory", (clock) => memoryEvents({ clock })],
  ["a SQLite file", (clock) => telemetryFile({ path: ":memory:", clock }).events],
];

describe.each(stores)("latency records in %s", (_, open) => {
  it("A47: a run of three turns gives three records of its task in the stream `_platform.ai.latency`", async () => {
    const clock = manualClock();
    const events = open(clock);
    const provider = scripted([
      { calls: [{ name: "look" }], usage },
      { calls: [{ name: "look" }], usage },
      { text: "A door.", usage },
    ]);
    const { run } = observed({ provider, tools: [clockTool(clock)] }, [turnObserver({ onTurn: latencyEvents(events) })], clock);
    await run("s1");
    const records = await recordsOf(events);
    expect(latencyStream).toBe("_platform.ai.latency");
    expect(records.map(({ turnNumber }) => turnNumber)).toEqual([1, 2, 3]);
    expect(new Set(records.map(({ taskId }) => taskId)).size).toBe(1);
  });

  it("keeps a record once, drops what is too old, and bounds what it keeps", async () => {
    const clock = manualClock();
    const events = open(clock);
    const event = (key: string) => ({ key, at: clock.now(), scope: "team", data: { key } });
    events.append("s", [event("a"), event("a")]);
    expect(await events.read("s")).toHaveLength(1);
    expect(await events.read("s", { scope: "other" })).toEqual([]);
    clock.advance(8 * 86_400_000);
    expect(await events.read("s")).toEqual([]);
    events.append("s", [event("b"), event("c"), event("d")]);
    expect((await events.read("s", { limit: 2 })).map(({ key }) => key)).toEqual(["c", "d"]);
  });
});

it("a SQLite file drops what is more than it may keep", async () => {
  const clock = manualClock();
  const { events } = telemetryFile({ path: ":memory:", clock, eventsMax: 1_500 });
  for (let i = 0; i < 4_000; i++) events.append("s", [{ key: `k${i}`, at: clock.now() + i, scope: "team", data: {} }]);
  const kept = await events.read("s");
  expect(kept.length).toBeLessThan(3_000);
  expect(kept.at(-1)?.key).toBe("k3999");
});

describe("a latency record", () => {
  it("A48: has first piece, duration, tools, stop reason and usage; the first piece comes before the end", async () => {
    const clock = manualClock();
    const records: LatencyRecord[] = [];
    const scripts = scripted(
      [
        { text: "Let me look.", calls: [{ name: "look" }, { name: "look" }], usage },
        { text: "A door.", usage },
      ],
      { model: "small" },
    );
    const times = [
      { firstMs: 120, restMs: 380 },
      { firstMs: 70, restMs: 30 },
    ];
    const provider = timed(scripts, clock, (call) => times[call] ?? { firstMs: 0, restMs: 0 });
    const { run } = observed(
      { provider, tools: [clockTool(clock)] },
      [turnObserver({ onTurn: (record) => void records.push(record) })],
      clock,
    );
    await run("s1");
    const [first, second] = records;
    expect(first).toMatchObject({
      ...{ scope: "team", conversationId: "s1", turnNumber: 1, providerName: "scripted", providerModel: "small", attempts: 1 },
      ...{ ttftMs: 120, turnDurationMs: 500, stopReason: "tool_calls", usage },
    });
    expect(first?.toolCalls).toMatchObject([
      { name: "look", side: "server", outcome: "ok" },
      { name: "look", side: "server", outcome: "ok" },
    ]);
    expect(second).toMatchObject({ turnNumber: 2, ttftMs: 70, turnDurationMs: 100, toolCalls: [], stopReason: "stop" });
  });

  it("A48: of a call that is not streamed has no first piece", async () => {
    const records: LatencyRecord[] = [];
    const provider = scripted([{ text: "Hello." }], { capabilities: { streaming: false } });
    const { run } = observed({ provider }, [turnObserver({ onTurn: (record) => void records.push(record) })]);
    await run("s1");
    expect(records).toHaveLength(1);
    expect(records[0]).not.toHaveProperty("ttftMs");
    expect(records[0]?.turnDurationMs).toBeGreaterThanOrEqual(0);
  });

  it("counts the attempts before the one that was kept", async () => {
    const clock = manualClock();
    const records: LatencyRecord[] = [];
    const provider = timed(scripted([{ error: "MODEL_OVERLOADED" }, { text: "Hello." }]), clock, () => ({ firstMs: 100, restMs: 50 }));
    const made = observed({ provider }, [turnObserver({ onTurn: (record) => void records.push(record) })], clock);
    const running = made.run("s1");
    while (records.length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
      if (clock.pending > 0) clock.advance(100);
    }
    await running;
    const [record] = records;
    expect(record?.attempts).toBe(2);
    expect(record?.ttftMs).toBeGreaterThanOrEqual(200);
    expect(record?.turnDurationMs).toBeGreaterThanOrEqual(record?.ttftMs ?? 0);
  });

  it("of a turn that another process began is complete, because the facts are repeated to its new owner", async () => {
    const clock = manualClock();
    const store = memoryStore({ clock });
    const records: LatencyRecord[] = [];
    const ask = defineTool({ name: "ask_person", description: "Asks.", parameters: { type: "object" } });
    const agent = createAgent({
      name: "helper",
      provider: scripted([{ calls: [{ name: "ask_person" }] }, { text: "Thanks." }]),
      tools: [ask],
    });
    const options = { agent, id: "s1", store, clock, access: { scope: "team", user: "anne" } };
    const first = createSession(options);
    await execute(first, "Hi").result();
    await first[Symbol.asyncDispose]();
    const second = createSession({ ...options, observers: [turnObserver({ onTurn: (record) => void records.push(record) })] });
    await second.ready();
    const [call] = second.pendingToolCalls;
    clock.advance(3_000);
    await (await second.answer(call?.callKey ?? "", "Yes.")).stream().result();
    expect(records.map(({ turnNumber, toolCalls }) => [turnNumber, toolCalls])).toEqual([
      [1, [{ name: "ask_person", side: "client", durationMs: 3_000, outcome: "ok" }]],
      [2, []],
    ]);
  });
});

const recordAt = (at: number, ms: number, more: Partial<LatencyRecord> = {}): LatencyRecord => ({
  ...{ scope: "team", taskId: "t", conversationId: "c", turnNumber: ms, providerName: "openai", providerModel: "m", at },
  ...{
    ttftMs: ms,
    turnDurationMs: 10 * ms,
    attempts: 1,
    toolCalls: [],
    stopReason: "stop",
    usage: { input: 750, cacheRead: 250, output: 1 },
  },
  ...more,
});

describe("/dev/ai-latency", () => {
  const ask = async (routes: readonly ReturnType<typeof latencyRoute>[], principal = operator) => {
    const { ask: send, server } = telemetryServer({ routes, principal });
    const answer = await send("/dev/ai-latency");
    await server.close();
    return answer;
  };

  it("A49: is 404 where it is off; on, it has the percentiles of the last 60 minutes by model, and the cache hit rate", async () => {
    expect((await ask([])).status).toBe(404);
    const clock = manualClock();
    const events = memoryEvents({ clock });
    const record = latencyEvents(events);
    record(recordAt(clock.now(), 5_000, { conversationId: "old" }));
    clock.advance(61 * 60_000);
    for (let ms = 100; ms >= 1; ms--) record(recordAt(clock.now(), ms));
    const { status, body } = await ask([latencyRoute({ events, clock })]);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      turns: 100,
      models: [
        {
          ...{ provider: "openai", model: "m", turns: 100, cacheHitRate: 0.25 },
          ttftMs: { p50: 50, p95: 95, p99: 99 },
          turnDurationMs: { p50: 500, p95: 950, p99: 990 },
        },
      ],
    });
  });

  it("A50: counts the calls of each tool, with percentiles and the share of errors", async () => {
    const call = (durationMs: number, outcome: "ok" | "error") => ({ name: "search", side: "server" as const, durationMs, outcome });
    const toolCalls = Array.from({ length: 10 }, (_, i) => call(10 * (i + 1), i < 2 ? "error" : "ok"));
    const { tools } = latencyReport([recordAt(1, 1, { toolCalls })], { from: 0, to: 2 });
    expect(tools.server).toEqual([{ name: "search", count: 10, durationMs: { p50: 50, p95: 100 }, errorRate: 0.2 }]);
  });

  it("A51: has tools of the server and of the client apart", async () => {
    const clock = manualClock();
    const events = memoryEvents({ clock });
    const timing = { name: "look", durationMs: 5, outcome: "ok" } as const;
    latencyEvents(events)(
      recordAt(clock.now(), 1, {
        toolCalls: [
          { ...timing, side: "server" },
          { ...timing, side: "client", durationMs: 7 },
        ],
      }),
    );
    const { body } = await ask([latencyRoute({ events, clock })]);
    expect(body).toMatchObject({
      tools: { server: [{ name: "look", count: 1, durationMs: { p50: 5 } }], client: [{ name: "look", count: 1, durationMs: { p50: 7 } }] },
    });
  });

  it("shows a caller the numbers that it reaches: of all scopes, of its own, or none", async () => {
    const clock = manualClock();
    const events = memoryEvents({ clock });
    latencyEvents(events)(recordAt(clock.now(), 1));
    latencyEvents(events)(recordAt(clock.now(), 2, { scope: "other" }));
    expect((await ask([latencyRoute({ events, clock })])).body).toMatchObject({ turns: 2 });
    expect((await ask([latencyRoute({ events, clock })], anne)).status).toBe(403);
    expect((await ask([latencyRoute({ events, clock, reachOf: () => "scope" })], anne)).body).toMatchObject({ turns: 1 });
  });
});

const longDeadlines = { firstByteMs: 1e9, idleMs: 1e9, totalMs: 1e9 };

it("A49: the percentiles of 200 runs at once equal an independent recording exactly, on a clock that stands still between the pieces", async () => {
  const clock = manualClock();
  const events = memoryEvents({ clock });
  const recorded: { readonly first: number; readonly whole: number }[] = [];
  const scripts = scripted(() => ({ text: "Hello." }), { model: "small" });
  // The recording is the vendor's own: it notes when it was asked, when it began and when it ended.
  const provider: typeof scripts = {
    ...scripts,
    async *stream(request, io) {
      const began = clock.monotonic();
      let first: number | undefined;
      let ms = 7 * ((recorded.length * 37) % 101);
      for await (const chunks of scripts.stream(request, io)) {
        await new Promise((resolve) => setImmediate(resolve));
        ms += 1;
        clock.advance(ms);
        first ??= clock.monotonic() - began;
        const isEnd = chunks.some(({ type }) => type === "end");
        if (isEnd) recorded.push({ first, whole: clock.monotonic() - began });
        yield chunks;
      }
    },
  };
  const { run } = observed({ provider, deadlines: longDeadlines }, [turnObserver({ onTurn: latencyEvents(events) })], clock);
  await Promise.all(Array.from({ length: 200 }, (_, i) => run(`s${i}`)));
  const records = await recordsOf(events);
  expect(records).toHaveLength(200);
  const { models } = latencyReport(records, { from: 0, to: clock.now() });
  const rank = (values: readonly number[], share: number): number | undefined =>
    values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1];
  const of = (pick: (one: { readonly first: number; readonly whole: number }) => number) => {
    const values = recorded.map(pick);
    return { p50: rank(values, 0.5), p95: rank(values, 0.95), p99: rank(values, 0.99) };
  };
  expect(models[0]?.ttftMs).toEqual(of(({ first }) => first));
  expect(models[0]?.turnDurationMs).toEqual(of(({ whole }) => whole));
});
