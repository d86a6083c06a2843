/* Lets a model talk past a reader that reads all, and past one more that reads nothing, and watches what that costs the server. */
import { get } from "node:http";
import { connect, type Socket } from "node:net";
import { textOfJob } from "../world/job.ts";
import { post } from "../world/people/post.ts";
import type { World } from "../world/world.ts";

export interface FloodOptions {
  readonly world: World;
  readonly pick: () => string;
  readonly floodBytes: number;
  readonly failures: string[];
  /** Memory of the server's process as it is, in bytes, and what of it is in use once the garbage is gone. */
  readonly rss: () => Promise<number>;
  readonly inUse: () => Promise<number>;
}

export interface Flood {
  readonly sentBytes: number;
  /** The longest queue of one reader, by the server's metric. */
  readonly queueBytes: number;
  /** How much more memory was in use than in the same flood before, past a single reader that reads. */
  readonly heldBytes: number;
  /** How far the memory of the process rose above its level before: most of it is garbage. */
  readonly grownBytes: number;
  /** Times that both were looked at. */
  readonly looks: number;
}

/** Between two looks, in milliseconds. */
const lookMs = 2;
const turnsMax = 200;
const turnsPerGc = 4;
const patienceMs = 60_000;

/** One session whose readers all read, and then one with a reader that does not: what the second costs above the first is due to that reader. */
export async function floodPast(options: FloodOptions): Promise<Flood> {
  const usual = await flood(options, "read");
  const before = await options.rss();
  const { sentBytes, heldBytes, seen } = await flood(options, "unread");
  const { queueBytes, looks, rssMax } = seen;
  return { sentBytes, queueBytes, looks, heldBytes: heldBytes - usual.heldBytes, grownBytes: rssMax - before };
}

/** Streams from the model until so much was sent to a reader; `unread`: beside one that does not read. */
async function flood(
  { world, pick, floodBytes, failures, rss, inUse }: FloodOptions,
  id: "read" | "unread",
): Promise<{ readonly sentBytes: number; readonly heldBytes: number; readonly seen: Seen }> {
  await post({ pick, path: "/api/sessions", body: { id }, key: `open-${id}` });
  let sentBytes = 0;
  const eager = get(`${pick()}/api/sessions/${id}/events?after=0.0`, { agent: false }, (response) => {
    response.on("data", (bytes: Buffer) => {
      sentBytes += bytes.length;
    });
    response.on("error", () => {});
  });
  eager.on("error", () => {});
  const lazy = id === "unread" ? neverRead(Number(new URL(pick()).port), id) : undefined;
  const before = await inUse();
  const watch = watchServer(pick, rss);
  let heldBytes = 0;
  for (let turn = 0; sentBytes < floodBytes && turn < turnsMax; turn++) {
    const goal = sentBytes + 1;
    const end = performance.now() + patienceMs;
    if (!(await saySomething({ world, pick, failures }, { id, turn }))) break;
    while (sentBytes < goal && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, lookMs));
    if (turn % turnsPerGc === 0) heldBytes = Math.max(heldBytes, (await inUse()) - before);
  }
  heldBytes = Math.max(heldBytes, (await inUse()) - before);
  const seen = await watch.stop();
  lazy?.destroy();
  eager.destroy();
  return { sentBytes, heldBytes, seen };
}

/** Asks for a long answer, and waits until it was given. */
async function saySomething(
  { world, pick, failures }: Pick<FloodOptions, "world" | "pick" | "failures">,
  { id, turn }: { readonly id: string; readonly turn: number },
): Promise<boolean> {
  const job = { id: `${id}${turn}`, turns: [{ words: 20_000, gapMs: 0 }] };
  const written = await post({ pick, path: `/api/sessions/${id}/messages`, body: { message: textOfJob(job) }, key: `say-${job.id}` });
  if (!written || written.status > 202) {
    failures.push(`flood: a message was answered with ${written?.status}`);
    return false;
  }
  const end = performance.now() + patienceMs;
  for (;;) {
    const { requests, open } = await world.model();
    if ((requests[job.id] !== undefined && open === 0) || performance.now() > end) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A client that asks for the stream and reads no byte of it. */
function neverRead(port: number, id: string): Socket {
  const lazy = connect({ port, host: "127.0.0.1" });
  lazy.on("error", () => {});
  lazy.pause();
  lazy.write(`GET /api/sessions/${id}/events?after=0.0 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: text/event-stream\r\n\r\n`);
  return lazy;
}

interface Seen {
  readonly queueBytes: number;
  readonly rssMax: number;
  readonly looks: number;
}

/** Looks at the queues and at the memory of the server, again and again, until it is stopped. */
function watchServer(pick: () => string, rss: () => Promise<number>): { stop(): Promise<Seen> } {
  let isOver = false;
  const watching = (async (): Promise<Seen> => {
    let [queueBytes, rssMax, looks] = [0, 0, 0];
    for (; !isOver; looks++) {
      const [text, used] = await Promise.all([fetch(`${pick()}/metrics`).then((response) => response.text()), rss()]);
      queueBytes = Math.max(queueBytes, Number(/^loopwright_sse_queue_bytes_max (\d+)/m.exec(text)?.[1] ?? 0));
      rssMax = Math.max(rssMax, used);
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
    return { queueBytes, rssMax, looks };
  })();
  return {
    stop() {
      isOver = true;
      return watching;
    },
  };
}
