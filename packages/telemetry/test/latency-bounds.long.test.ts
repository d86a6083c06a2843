import { manualClock } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import {
  type EventQuery,
  type EventStore,
  type LatencyRecord,
  type LatencyReport,
  latencyReport,
  latencyRoute,
  latencyStream,
  memoryEvents,
} from "../src/index.ts";
import { telemetryFile } from "../src/sqlite/index.ts";
import { telemetryServer } from "./telemetry-server.ts";

const minute = 60_000;
const turn = (number: number, at: number): LatencyRecord => ({
  ...{
    scope: `team${number % 3}`,
    taskId: `r${number}`,
    conversationId: `s${number % 50}`,
    turnNumber: 1,
    at,
    attempts: 1,
    stopReason: "stop",
  },
  ...{ providerName: "scripted", providerModel: `model${number % 4}`, turnDurationMs: (number * 7919) % 10_007 },
  ...(number % 5 === 0 ? {} : { ttftMs: (number * 104_729) % 997 }),
  usage: { input: number % 300, cacheRead: number % 700, output: 5 },
  toolCalls: [
    { name: `tool${number % 6}`, side: number % 2 ? "client" : "server", durationMs: number % 89, outcome: number % 9 ? "ok" : "error" },
  ],
});

/** The store, and what it was asked. */
function noted(events: EventStore): { readonly events: EventStore; readonly asked: EventQuery[] } {
  const asked: EventQuery[] = [];
  const read: EventStore["read"] = (stream, query = {}) => {
    asked.push(query);
    return events.read(stream, query);
  };
  return { asked, events: { append: (stream, records) => events.append(stream, records), read } };
}

const reportFrom = async (events: EventStore, clock: ReturnType<typeof manualClock>): Promise<LatencyReport> => {
  const { server, ask } = telemetryServer({ routes: [latencyRoute({ events, clock })] });
  const { body } = await ask("/dev/ai-latency");
  await server.close();
  return body;
};

it.each([
  ["memory", (clock: ReturnType<typeof manualClock>) => memoryEvents({ clock })],
  ["a SQLite file", (clock: ReturnType<typeof manualClock>) => telemetryFile({ path: ":memory:", clock }).events],
])("A49: 12,000 turns are read in pages of 5,000, and the report is that of all of them, each once (%s)", async (_, open) => {
  const clock = manualClock();
  const { events, asked } = noted(open(clock));
  // Many of one moment, also across the border of two pages.
  const records = Array.from({ length: 12_000 }, (__, number) => turn(number, clock.now() + Math.floor(number / 700)));
  events.append(
    latencyStream,
    records.map((data, number) => ({ key: String(number), at: data.at, scope: data.scope, data })),
  );
  clock.advance(minute);
  const report = await reportFrom(events, clock);
  expect(asked.map(({ limit }) => limit)).toEqual([5_000, 5_000, 5_000]);
  expect(report).toEqual(latencyReport(records, { from: clock.now() - 60 * minute, to: clock.now() }));
  expect(report.turns).toBe(12_000);
});

it("A49: at most 100,000 turns are read, the newest, and the report begins with the oldest of them", async () => {
  const clock = manualClock();
  clock.advance(60 * minute);
  // A store with a bound of its own that is larger: turn 1 is the newest.
  const asked: number[] = [];
  const events: EventStore = {
    append: () => {},
    async read(_, { limit = 0, before = "0" } = {}) {
      asked.push(limit);
      const newest = Number(before);
      return Array.from({ length: limit }, (__, place) => newest + limit - place).map((number) => ({
        ...{ key: `${number}`, at: clock.now() - number, scope: "team", data: turn(number, clock.now() - number), cursor: `${number}` },
      }));
    },
  };
  const report = await reportFrom(events, clock);
  expect(asked).toEqual(Array.from({ length: 20 }, () => 5_000));
  expect([report.turns, report.from]).toEqual([100_000, clock.now() - 100_000]);
});
