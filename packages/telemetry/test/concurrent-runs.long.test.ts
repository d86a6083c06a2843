import { createAgent, defineTool } from "@loopwright/core";
import { fixedPrices, manualClock, memoryStore, scripted, seededRandom } from "@loopwright/core/memory";
import type { ModelProvider } from "@loopwright/core/ports";
import { createRuntime } from "@loopwright/host";
import { createServer } from "@loopwright/server";
import { expect, it } from "vitest";
import { type LatencyReport, latencyEvents, latencyRoute, memoryEvents, turnObserver } from "../src/index.ts";
import { prometheusMetrics } from "../src/prometheus/index.ts";
import { telemetryFile } from "../src/sqlite/index.ts";
import { operator } from "./telemetry-server.ts";

const runs = 200;

/** What the provider and the tool saw themselves of each call, in milliseconds. */
interface Recording {
  readonly firstMs: number[];
  readonly turnMs: number[];
  readonly toolMs: number[];
  cached: number;
  prompt: number;
}

/** The smallest value that `percent` of all do not exceed, by counting: not as the package finds it. */
function rank(values: readonly number[], percent: number): number {
  const enough = [...new Set(values)].filter((value) => values.filter((one) => one <= value).length * 100 >= percent * values.length);
  return Math.min(...enough);
}

const percentiles = (values: readonly number[]) => ({ p50: rank(values, 50), p95: rank(values, 95), p99: rank(values, 99) });

it.each([
  ["memory", (clock: ReturnType<typeof manualClock>) => memoryEvents({ clock })],
  ["a SQLite file", (clock: ReturnType<typeof manualClock>) => telemetryFile({ path: ":memory:", clock }).events],
])(
  "A49, A50, A52: `/dev/ai-latency` and `/metrics` are read during 200 concurrent runs, and percentiles equal an independent recording exactly (%s)",
  async (_, open) => {
    const clock = manualClock();
    const random = seededRandom(11);
    const draw = (least: number, most: number): number => least + Math.floor(random() * (most - least));
    const pause = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));
    const seen: Recording = { firstMs: [], turnMs: [], toolMs: [], cached: 0, prompt: 0 };

    const script = scripted(
      ({ messages }) => {
        const usage = { input: draw(50, 500), cacheRead: draw(0, 2_000), output: draw(5, 50) };
        seen.cached += usage.cacheRead;
        seen.prompt += usage.input + usage.cacheRead;
        return messages.at(-1)?.role === "user" ? { text: "I look.", calls: [{ name: "look" }], usage } : { text: "A door.", usage };
      },
      { model: "small" },
    );
    const provider: ModelProvider = {
      ...script,
      async *stream(request, io) {
        const begun = clock.monotonic();
        await pause(draw(20, 900));
        let isFirst = true;
        for await (const chunks of script.stream(request, io)) {
          if (isFirst) seen.firstMs.push(clock.monotonic() - begun);
          else await pause(draw(1, 400));
          isFirst = false;
          yield chunks;
        }
        seen.turnMs.push(clock.monotonic() - begun);
      },
    };
    const look = defineTool({
      name: "look",
      description: "Looks.",
      parameters: { type: "object" },
      replay: "pure",
      async execute() {
        const begun = clock.monotonic();
        await pause(draw(5, 300));
        seen.toolMs.push(clock.monotonic() - begun);
        return "A door.";
      },
    });
    const events = open(clock);
    const metrics = prometheusMetrics();
    const prices = fixedPrices({ small: { inputUsd: 1, outputUsd: 1, cacheReadUsd: 1 } });
    const runtime = createRuntime({
      agents: [createAgent({ name: "helper", provider, prices, tools: [look] })],
      store: memoryStore({ clock }),
      clock,
      observers: [turnObserver({ onTurn: latencyEvents(events) }), ...metrics.observers],
    });
    const routes = [latencyRoute({ events, clock })];
    const server = createServer({ runtime, authenticate: operator, routes, metrics: metrics.text });
    const get = async (path: string): Promise<string> => {
      const response = await server.fetch(new Request(`http://localhost${path}`), { remoteAddress: "127.0.0.1" });
      expect(response.status).toBe(200);
      return response.text();
    };
    const latency = async (): Promise<LatencyReport> => JSON.parse(await get("/dev/ai-latency"));
    const turnsOf = (text: string): number =>
      [...text.matchAll(/^loopwright_turns_total\{.*\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);

    const asked = Array.from({ length: runs }, (__, at) =>
      runtime.ask("helper", "What is there?", { id: `s${at}`, access: { scope: `team${at % 3}`, user: "anne" } }).result(),
    );
    let isRunning = true;
    const all = Promise.all(asked).finally(() => {
      isRunning = false;
    });
    let [reads, before] = [0, 0];
    while (isRunning) {
      // What is due has its turn before the clock moves.
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      clock.advance(1);
      if (clock.monotonic() % 200 !== 0) continue;
      // Runs continue between the three answers.
      const [first, report, last] = [turnsOf(await get("/metrics")), await latency(), turnsOf(await get("/metrics"))];
      reads += 1;
      expect(report.turns).toBeGreaterThanOrEqual(before);
      expect(report.turns).toBeGreaterThanOrEqual(first);
      expect(report.turns).toBeLessThanOrEqual(last);
      before = report.turns;
    }
    expect((await all).map(({ status }) => status)).toEqual(Array.from({ length: runs }, () => "completed"));
    expect(reads).toBeGreaterThan(5);

    const report = await latency();
    expect(seen.turnMs).toHaveLength(2 * runs);
    expect(report.turns).toBe(2 * runs);
    expect(report.models).toEqual([
      {
        provider: "scripted",
        model: "small",
        turns: 2 * runs,
        ttftMs: percentiles(seen.firstMs),
        turnDurationMs: percentiles(seen.turnMs),
        cacheHitRate: seen.cached / seen.prompt,
      },
    ]);
    const { p50, p95 } = percentiles(seen.toolMs);
    expect(report.tools).toEqual({ server: [{ name: "look", count: runs, durationMs: { p50, p95 }, errorRate: 0 }], client: [] });
    const text = await get("/metrics");
    expect(text).toContain(`loopwright_turn_duration_seconds_count{provider="scripted",model="small"} ${2 * runs}`);
    expect(text).toContain(`loopwright_tool_calls_total{tool="look",side="server",outcome="ok"} ${runs}`);
    await server.close();
  },
);
