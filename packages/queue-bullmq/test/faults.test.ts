import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { RunQueue, SessionRef } from "@loopwright/core/ports";
import { type FaultyProxy, faultyProxy, type RedisProcess, startRedis } from "@loopwright/simulator/node";
import { expect, it, onTestFinished } from "vitest";
import { type BullQueueOptions, bullQueue } from "../src/index.ts";
import { describeWithRedis } from "./redis-suite.ts";

let tests = 0;
const ref: SessionRef = { scope: "local", session: "first" };
const other: SessionRef = { scope: "local", session: "second" };

function openQueue(options: BullQueueOptions): RunQueue {
  const queue = bullQueue(options);
  onTestFinished(() => queue.close());
  return queue;
}

/** Writes down what it is handed. */
function takeAll(queue: RunQueue): string[] {
  const taken: string[] = [];
  queue.work(async ({ session }) => void taken.push(session), { concurrency: 4 });
  return taken;
}

async function lineTo(redis: RedisProcess): Promise<FaultyProxy> {
  const line = await faultyProxy({ target: { port: redis.port } });
  onTestFinished(() => line.close());
  return line;
}

describeWithRedis("a queue over BullMQ", (redis) => {
  const own = (options?: BullQueueOptions): BullQueueOptions => ({ url: redis().url, prefix: `test-${tests++}`, ...options });

  it("connects to nothing before its first use", async () => {
    const clients = async () => (await redis().command("CLIENT", "LIST")).split("id=").length;
    const before = await clients();
    const queue = bullQueue(own());
    expect(await clients()).toBe(before);
    await queue.close();
    expect(await clients()).toBe(before);
  });

  it("merges the hints for a session that waits, and puts only scope and session into a job", async () => {
    const options = own();
    const queues = [openQueue(options), openQueue(options)];
    for (let times = 0; times < 10; times++) for (const queue of queues) await queue.offer(ref);
    expect(await redis().command("ZCARD", `${options.prefix}:queue:runs:prioritized`)).toBe(":1");
    const id = (await redis().command("ZRANGE", `${options.prefix}:queue:runs:prioritized`, "0", "0")).split("\r\n").at(-1) ?? "";
    expect(await redis().command("HGET", `${options.prefix}:queue:runs:${id}`, "data")).toContain('{"scope":"local","session":"first"}');
    const [queue] = queues;
    const taken = queue ? takeAll(queue) : [];
    await expect.poll(() => taken).toEqual(["first"]);
    await queue?.offer(other);
    await expect.poll(() => taken).toEqual(["first", "second"]);
  });

  it("leaves nothing of a handled hint in Redis", async () => {
    const options = own();
    const queue = openQueue(options);
    const taken = takeAll(queue);
    for (const session of ["a", "b", "c"]) await queue.offer({ scope: "local", session });
    await expect.poll(() => taken.length).toBe(3);
    const left = async () =>
      (await redis().command("KEYS", `${options.prefix}:*`)).split("\r\n").filter((line) => /runs:(\d+|de:.*)$/.test(line));
    await expect.poll(left).toEqual([]);
  });

  it("hands on a session whose hint was lost, when it is offered again", async () => {
    const options = own();
    const queue = openQueue(options);
    await queue.offer(ref);
    await redis().command("FLUSHALL");
    const taken = takeAll(queue);
    await queue.offer(other);
    await expect.poll(() => taken).toEqual(["second"]);
    await queue.offer(ref);
    await expect.poll(() => taken).toEqual(["second", "first"]);
  });

  it("continues after its connections were cut by Redis", async () => {
    const options = own();
    const queue = openQueue(options);
    const taken = takeAll(queue);
    await queue.offer(ref);
    await expect.poll(() => taken.length).toBe(1);
    await redis().command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    const offered = async () => {
      await queue.offer(other);
      return true;
    };
    await expect.poll(offered).toBe(true);
    await expect.poll(() => taken).toContain("second");
  });

  it("reports QUEUE_UNAVAILABLE in time while Redis is silent, and continues when it replies again", async () => {
    const line = await lineTo(redis());
    const queue = openQueue(own({ url: `redis://${line.host}:${line.port}`, deadlineMs: 300 }));
    const taken = takeAll(queue);
    await expect.poll(() => queue.offer(ref).then(() => true)).toBe(true);
    await expect.poll(() => taken.length).toBe(1);
    line.infect({ toServer: { isHeld: true }, toClient: { isHeld: true } });
    await expect(queue.offer(ref)).rejects.toMatchObject({ code: "QUEUE_UNAVAILABLE", retryable: true });
    line.infect();
    await expect.poll(() => queue.offer(other).then(() => true)).toBe(true);
    await expect.poll(() => taken).toContain("second");
  });

  it("continues by itself after a server accepted its connections and never replied on them", async () => {
    let isMute = true;
    const mute: Socket[] = [];
    const server = createServer((socket) => {
      socket.on("error", () => {});
      if (isMute) {
        mute.push(socket.resume());
        return;
      }
      const line = connect(redis().port, "127.0.0.1").on("error", () => socket.destroy());
      socket.on("close", () => line.destroy());
      socket.pipe(line).pipe(socket);
    });
    onTestFinished(() => void server.close());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const queue = openQueue(own({ url: `redis://127.0.0.1:${port}`, deadlineMs: 300 }));
    const taken = takeAll(queue);
    await expect(queue.offer(ref)).rejects.toMatchObject({ code: "QUEUE_UNAVAILABLE" });
    isMute = false;
    await expect.poll(() => queue.offer(other).then(() => true)).toBe(true);
    await expect.poll(() => taken).toContain("second");
    expect(mute.length).toBeGreaterThan(0);
  });

  it("reports QUEUE_UNAVAILABLE without a Redis, names no password, and still stops", async () => {
    const queue = bullQueue({ url: "redis://user:hunter2@127.0.0.1:1", deadlineMs: 200 });
    const worker = queue.work(async () => {}, { concurrency: 1 });
    const error: unknown = await queue.offer(ref).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "QUEUE_UNAVAILABLE", retryable: true });
    expect(JSON.stringify(error) + String(error)).not.toContain("hunter2");
    await worker.stop();
    await queue.close();
  });

  it("lets the process end once it is closed, with Redis and without", async () => {
    for (const url of [redis().url, "redis://127.0.0.1:1"]) {
      const program = `
        const { bullQueue } = await import(${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)});
        const queue = bullQueue({ url: ${JSON.stringify(url)}, deadlineMs: 200 });
        queue.work(async () => {}, { concurrency: 1 });
        await queue.offer({ scope: "local", session: "first" }).catch(() => {});
        await queue.close();`;
      const child = spawn(process.execPath, ["--conditions=@loopwright/source", "--input-type=module", "--eval", program], {
        stdio: "inherit",
      });
      expect(await once(child, "exit")).toEqual([0, null]);
    }
  });

  it("hands a session that a stopped process holds to another at once when it is offered again, and by itself after its lock", async () => {
    const options = own({ lockMs: 500 });
    const frozen = await startWorker(options);
    const queue = openQueue(options);
    await queue.offer(ref);
    expect(await frozen.taken()).toBe("local/first");
    frozen.child.kill("SIGSTOP");
    const taken = takeAll(queue);
    await queue.offer(ref);
    await expect.poll(() => taken.length).toBe(1);
    // The hint that the frozen process took, after its lock.
    await expect.poll(() => taken.length).toBe(2);
    frozen.child.kill("SIGCONT");
    await queue.offer(other);
    await expect.poll(async () => [...taken, await frozen.takenSoFar()].join(" ")).toContain("second");
  });
});

describeWithRedis("a queue whose Redis dies", () => {
  it("refuses hints meanwhile and hands them on after a restart with empty data, without being made anew", async () => {
    const redis = await startRedis({ args: ["--appendonly", "no"] });
    onTestFinished(() => redis.stop());
    const queue = openQueue({ url: redis.url, deadlineMs: 400 });
    const taken = takeAll(queue);
    await expect.poll(() => queue.offer(ref).then(() => true)).toBe(true);
    await expect.poll(() => taken.length).toBe(1);
    await redis.kill();
    await expect(queue.offer(ref)).rejects.toMatchObject({ code: "QUEUE_UNAVAILABLE" });
    await redis.restart();
    await expect.poll(() => queue.offer(other).then(() => true)).toBe(true);
    await expect.poll(() => taken).toEqual(["first", "second"]);
  });
});

async function startWorker({ url = "", prefix = "", lockMs = 0 }: BullQueueOptions) {
  const file = fileURLToPath(new URL("worker-child.ts", import.meta.url));
  const child: ChildProcess = spawn(process.execPath, ["--conditions=@loopwright/source", file, url, prefix, String(lockMs)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    const ended = once(child, "exit");
    if (child.kill("SIGKILL")) await ended;
  });
  if (!child.stdout) throw new Error("The child has no output.");
  const written: string[] = [];
  const lines = createInterface({ input: child.stdout }).on("line", (line) => written.push(line));
  return {
    child,
    taken: async () => written[0] ?? String((await once(lines, "line"))[0]),
    takenSoFar: async () => written.join(" "),
  };
}
