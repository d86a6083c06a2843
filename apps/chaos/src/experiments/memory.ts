/* B1, B5: what clients cost that do nothing, that come and go, and that never read. */
import { type ClientRequest, get } from "node:http";
import { connect, type Socket } from "node:net";
import { sqliteGround } from "../world/ground.ts";
import { textOfJob } from "../world/job.ts";
import { post } from "../world/post.ts";
import type { World } from "../world/world.ts";
import type { Experiment } from "./experiment.ts";
import { inWorld } from "./in-world.ts";

export interface MemoryOptions {
  readonly idle: number;
  readonly cycles: number;
  readonly floodBytes: number;
}

const bounds = { idleKb: 25, leftMb: 10, queueBytes: 1024 * 1024 };
const sessionId = "watched";
const mebibyte = 1024 * 1024;

interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
}

export function memory({ idle, cycles, floodBytes }: MemoryOptions): Experiment {
  return inWorld({ isTimed: true, name: "memory", ground: sqliteGround, nodes: 1, leaseMs: 15_000 }, async ({ world, say }) => {
    const node = world.nodes[0];
    const pick = (): string => `http://127.0.0.1:${node?.port}`;
    const measure = async (): Promise<Memory> => (await node?.ask<Memory>("memory")) ?? { rss: 0, heapUsed: 0 };
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
    const flood = await floodPast({ world, pick, floodBytes, failures });
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

interface Flood {
  readonly world: World;
  readonly pick: () => string;
  readonly floodBytes: number;
  readonly failures: string[];
}

/** Lets a model talk past one reader that reads all and one that reads nothing. */
async function floodPast({
  world,
  pick,
  floodBytes,
  failures,
}: Flood): Promise<{ readonly sentBytes: number; readonly queueBytes: number }> {
  const id = "flood";
  await post({ pick, path: "/api/sessions", body: { id }, key: "flood" });
  const port = Number(new URL(pick()).port);
  const lazy: Socket = connect({ port, host: "127.0.0.1" });
  lazy.on("error", () => {});
  lazy.pause();
  lazy.write(`GET /api/sessions/${id}/events?after=0.0 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: text/event-stream\r\n\r\n`);
  let sentBytes = 0;
  const eager = get(`${pick()}/api/sessions/${id}/events?after=0.0`, { agent: false }, (response) => {
    response.on("data", (bytes: Buffer) => {
      sentBytes += bytes.length;
    });
    response.on("error", () => {});
  });
  eager.on("error", () => {});
  let queueBytes = 0;
  for (let turn = 0; sentBytes < floodBytes && turn < 200; turn++) {
    const job = { id: `f${turn}`, turns: [{ words: 20_000, gapMs: 0 }] };
    const said = await post({ pick, path: `/api/sessions/${id}/messages`, body: { message: textOfJob(job) }, key: `flood-${turn}` });
    if (!said || said.status > 202) {
      failures.push(`flood: a message was answered with ${said?.status}`);
      break;
    }
    const goal = sentBytes + 1;
    const end = performance.now() + 60_000;
    do {
      const text = await (await fetch(`${pick()}/metrics`)).text();
      queueBytes = Math.max(queueBytes, Number(/^loopwright_sse_queue_bytes_max (\d+)/m.exec(text)?.[1] ?? 0));
      await new Promise((resolve) => setTimeout(resolve, 20));
    } while (
      ((await world.model()).requests[job.id] === undefined || (await world.model()).open > 0 || sentBytes < goal) &&
      performance.now() < end
    );
  }
  lazy.destroy();
  eager.destroy();
  return { sentBytes, queueBytes };
}
