import { describe, expect, it, onTestFinished } from "vitest";
import { until } from "../../host/test/turn-of-loop.ts";
import { defaultServerLimits, type ServerLimits } from "../src/server-limits.ts";
import type { EventSink } from "../src/stream/event-sink.ts";
import { openCommandedScene, quiet } from "./commanded-scene.ts";
import { floodTool } from "./flood-tool.ts";
import { defectiveSinks, sinkDefects } from "./sink-defects.ts";
import { watchedSinks } from "./watched-sinks.ts";

const { streamQueueBytes, streamStallMs } = defaultServerLimits;
const deltaBytes = 64 * 1024;

interface BoundsOptions {
  readonly defect?: (sink: EventSink) => EventSink;
  readonly limits?: Partial<ServerLimits>;
}

/**
 * What is wrong with how a reader is treated that reads nothing of 8 MB. There is no socket and so no kernel: what was written is what the process
 * holds, and no sink's own account is asked.
 */
async function flawsOfDeafReader({ defect = (sink) => sink, limits = {} }: BoundsOptions = {}): Promise<readonly string[]> {
  const flood = floodTool();
  const { records, spoil } = watchedSinks();
  const scene = await openCommandedScene({ tools: [flood.tool], limits, spoil: (openSink) => defectiveSinks(spoil(openSink), defect) });
  onTestFinished(() => scene.door.close());
  await scene.say("Flood");
  scene.model.call("flood", {});
  scene.model.end();
  await until(async () => (await scene.history()).at(-1)?.type === "tool_execution_start", "the tool runs");
  await quiet();
  await scene.connect({ path: "/api/sessions/s/events?after=" });
  const poured = 128;
  for (let times = 0; times < poured; times++) await flood.pour(deltaBytes);
  const [record] = records;
  const heldBytes = record?.written ?? 0;
  scene.clock.advance(streamStallMs);
  await quiet();
  const flaws = [
    ...(heldBytes > streamQueueBytes ? [`${heldBytes} bytes are held`] : []),
    ...(heldBytes < streamQueueBytes / 2 ? [`only ${heldBytes} bytes were written`] : []),
    ...(record?.isClosed ? [] : ["the stream is not cut"]),
    ...(scene.door.context.streams.open === 0 ? [] : ["the stream is counted as open"]),
  ];
  flood.stop();
  scene.model.say("It is over.");
  scene.model.end();
  await scene.rests();
  return flaws;
}

it("of a reader that reads nothing the process holds at most 1 MiB, and cuts it after 30 s", async () => {
  expect(await flawsOfDeafReader()).toEqual([]);
});

describe("the suite", () => {
  it.each(Object.entries(sinkDefects))("notices that %s", async (_, defect) => {
    expect(await flawsOfDeafReader({ defect })).not.toEqual([]);
  });

  it.each([
    ["there is no bound", { streamQueueBytes: 1024 * 1024 * 1024 }],
    ["nobody who stands still is cut", { streamStallMs: 3_600_000 }],
  ])("notices that %s", async (_, limits) => {
    expect(await flawsOfDeafReader({ limits })).not.toEqual([]);
  });
});
