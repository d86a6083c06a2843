/* 200 runs at once, again and again, on a real clock; the vendor's side records its own times. Prints JSON. */
import { createAgent, defineTool } from "@loopwright/core";
import { memoryStore, scripted, seededRandom } from "@loopwright/core/memory";
import type { ModelProvider } from "@loopwright/core/ports";
import { createRuntime } from "@loopwright/host";
import { createServer } from "@loopwright/server";
import { type LatencyReport, latencyEvents, latencyRoute, memoryEvents, turnObserver } from "@loopwright/telemetry";
import { prometheusMetrics } from "@loopwright/telemetry/prometheus";

const [runs, waves] = [200, 5];

/** One percentile, as the page of latencies gives it and as it was recorded beside it, in milliseconds. */
export interface ComparedLatency {
  readonly what: string;
  readonly reportedMs: number;
  readonly recordedMs: number;
}

export interface LatencyFigures {
  readonly turns: number;
  readonly compared: readonly ComparedLatency[];
  /** How long an answer of `/dev/ai-latency` took while the runs were under way, in milliseconds. */
  readonly readMs: readonly number[];
}

const random = seededRandom(7);
const pause = (leastMs: number, mostMs: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, leastMs + random() * (mostMs - leastMs)));
const seen = { firstMs: [] as number[], turnMs: [] as number[], toolMs: [] as number[] };

const script = scripted(
  ({ messages }) => (messages.at(-1)?.role === "user" ? { calls: [{ name: "look" }] } : { text: "A door, and a window." }),
  {
    model: "small",
  },
);
const provider: ModelProvider = {
  ...script,
  async *stream(request, io) {
    const begun = performance.now();
    await pause(300, 2_000);
    let isFirst = true;
    for await (const chunks of script.stream(request, io)) {
      if (isFirst) seen.firstMs.push(performance.now() - begun);
      else await pause(50, 600);
      isFirst = false;
      yield chunks;
    }
    seen.turnMs.push(performance.now() - begun);
  },
};
const look = defineTool({
  ...{ name: "look", description: "Looks.", parameters: { type: "object" }, replay: "pure" },
  async execute() {
    const begun = performance.now();
    await pause(200, 1_500);
    seen.toolMs.push(performance.now() - begun);
    return "A door.";
  },
});

const events = memoryEvents();
const metrics = prometheusMetrics();
const runtime = createRuntime({
  agents: [createAgent({ name: "helper", provider, tools: [look] })],
  store: memoryStore(),
  observers: [turnObserver({ onTurn: latencyEvents(events) }), ...metrics.observers],
});
const server = createServer({
  ...{ runtime, routes: [latencyRoute({ events })], metrics: metrics.text },
  authenticate: () => ({ user: "olga", scope: "ops", trusted: true }),
});
const get = async (path: string): Promise<string> => {
  const response = await server.fetch(new Request(`http://localhost${path}`), { remoteAddress: "127.0.0.1" });
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}.`);
  return response.text();
};
const latency = async (): Promise<LatencyReport> => JSON.parse(await get("/dev/ai-latency")) as LatencyReport;

const readMs: number[] = [];
for (let wave = 0; wave < waves; wave++) {
  let isRunning = true;
  const asked = Array.from({ length: runs }, (_, at) => runtime.ask("helper", "What is there?", { id: `s${wave}-${at}` }).result());
  const ended = Promise.all(asked).finally(() => {
    isRunning = false;
  });
  while (isRunning) {
    await pause(100, 100);
    const begun = performance.now();
    await latency();
    readMs.push(performance.now() - begun);
    await get("/metrics");
  }
  for (const { status } of await ended) if (status !== "completed") throw new Error(`A run ended as ${status}.`);
}

const report = await latency();
const [model] = report.models;
const [tool] = report.tools.server;
if (!model || !tool || report.turns !== 2 * runs * waves) throw new Error(`The report has ${report.turns} turns.`);
/** The smallest value that `percent` of all do not exceed. */
const recorded = (values: readonly number[], percent: number): number =>
  [...values].sort((a, b) => a - b)[Math.ceil((percent / 100) * values.length) - 1] ?? Number.NaN;
const compared = ([50, 95, 99] as const).flatMap((percent): readonly ComparedLatency[] => [
  { what: `turn p${percent}`, reportedMs: model.turnDurationMs[`p${percent}`], recordedMs: recorded(seen.turnMs, percent) },
  { what: `first token p${percent}`, reportedMs: model.ttftMs?.[`p${percent}`] ?? Number.NaN, recordedMs: recorded(seen.firstMs, percent) },
  ...(percent === 99
    ? []
    : [{ what: `tool p${percent}`, reportedMs: tool.durationMs[`p${percent}`], recordedMs: recorded(seen.toolMs, percent) }]),
]);
await server.close();
process.stdout.write(JSON.stringify({ turns: report.turns, compared, readMs } satisfies LatencyFigures), () => process.exit(0));
