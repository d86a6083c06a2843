/* B1, B5: what clients cost that do nothing, that come and go, and that never read. */
import { type ClientRequest, get } from "node:http";
import { sqliteGround } from "../world/ground.ts";
import { post } from "../world/people/post.ts";
import type { Experiment } from "./experiment.ts";
import { floodPast } from "./flood-past.ts";
import { inWorld } from "./in-world.ts";

export interface MemoryOptions {
  readonly idle: number;
  readonly cycles: number;
  readonly floodBytes: number;
}

const bounds = { idleKb: 25, leftMb: 10, queueBytes: 1024 * 1024, heldMb: 4 };
const sessionId = "watched";
const mebibyte = 1024 * 1024;

interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
}

export function memory({ idle, cycles, floodBytes }: MemoryOptions): Experiment {
  return inWorld({ isTimed: true, name: "memory", ground: sqliteGround, nodes: 1, leaseMs: 20_000 }, async ({ world, say }) => {
    const node = world.nodes[0];
    const pick = (): string => `http://127.0.0.1:${node?.port}`;
    const measure = async (): Promise<Memory> => (await node?.ask<Memory>("memory")) ?? { rss: 0, heapUsed: 0, external: 0 };
    const failures: string[] = [];
    await post({ pick, path: "/api/sessions", body: { id: sessionId }, key: "open" });
    const warm = await openStreams(pick(), 500);
    await closeStreams(warm);
    const quiet = await measure();
    say(`opens ${idle} streams`);
    const streams = await openStreams(pick(), idle);
    const full = await measure();
    await closeStreams(streams);
    say(`${cycles} times in and out`);
    const before = await settledHeap(measure);
    for (let done = 0; done < cycles; done += 500) await closeStreams(await openStreams(pick(), 500));
    const after = await settledHeap(measure);
    say(`${floodBytes / mebibyte} MB past a reader that never reads`);
    const rss = async (): Promise<number> => (await node?.ask<{ readonly rss: number }>("rss"))?.rss ?? 0;
    const inUse = async (): Promise<number> => {
      const { heapUsed, external } = await measure();
      return heapUsed + external;
    };
    const flood = await floodPast({ world, pick, floodBytes, failures, rss, inUse });
    return {
      failures,
      figures: [
        { name: "idle clients", value: idle },
        {
          name: "memory per idle client",
          value: round((full.rss - quiet.rss) / idle / 1024),
          unit: "KB",
          bound: { most: bounds.idleKb },
        },
        { name: "heap per idle client", value: round((full.heapUsed - quiet.heapUsed) / idle / 1024), unit: "KB" },
        { name: "clients that came and went", value: cycles },
        { name: "heap left behind by them", value: round((after - before) / mebibyte), unit: "MB", bound: { most: bounds.leftMb } },
        {
          name: "sent past a reader that never reads",
          value: round(flood.sentBytes / mebibyte),
          unit: "MB",
          bound: { least: floodBytes / mebibyte },
        },
        { name: "longest queue of one reader meanwhile", value: flood.queueBytes, unit: "bytes", bound: { most: bounds.queueBytes } },
        {
          name: "memory in use above that of the same flood without this reader",
          value: round(flood.heldBytes / mebibyte),
          unit: "MB",
          bound: { most: bounds.heldMb },
        },
        { name: "memory of the process above its level before, garbage included", value: round(flood.grownBytes / mebibyte), unit: "MB" },
        { name: "times that queue and memory were looked at", value: flood.looks },
      ],
    };
  });
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** The heap once it shrinks no more. */
async function settledHeap(measure: () => Promise<Memory>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < 8; time++) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    least = Math.min(least, (await measure()).heapUsed);
  }
  return least;
}

/** Streams that have their first byte. */
async function openStreams(base: string, count: number): Promise<readonly ClientRequest[]> {
  const requests: ClientRequest[] = [];
  const atOnce = 100;
  for (let from = 0; from < count; from += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, count - from) }, () => {
      const request = get(`${base}/api/sessions/${sessionId}/events?after=0.0`, { agent: false });
      return new Promise<ClientRequest>((resolve, reject) => {
        request.once("error", reject);
        request.once("response", (response) => {
          if (response.statusCode !== 200) reject(new Error(`A stream was answered with ${response.statusCode}.`));
          response.on("data", () => {});
          response.on("error", () => {});
          resolve(request);
        });
      });
    });
    requests.push(...(await Promise.all(some)));
  }
  return requests;
}

async function closeStreams(requests: readonly ClientRequest[]): Promise<void> {
  await Promise.all(
    requests.map((request) => {
      request.on("error", () => {});
      const closed = new Promise((resolve) => request.once("close", resolve));
      request.destroy();
      return closed;
    }),
  );
}
