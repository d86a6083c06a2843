import { spawn } from "node:child_process";
import { once } from "node:events";
import { systemClock } from "@loopwright/core/memory";
import type { Clock, Logger, SessionRef } from "@loopwright/core/ports";
import type { SessionEvent } from "@loopwright/core/protocol";
import { type FaultyProxy, faultyProxy, type RedisProcess, startRedis } from "@loopwright/simulator/node";
import { expect, it, onTestFinished } from "vitest";
import { type RedisChannel, type RedisChannelOptions, redisChannel } from "../src/index.ts";
import { describeWithRedis } from "./redis-suite.ts";

let tests = 0;
const ref: SessionRef = { scope: "local", session: "first" };
const lane = 5;

const delta = (n: number): SessionEvent => ({ type: "text_delta", lane, n, index: 0, delta: `${n} ` });
const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, index) => index + 1);
const numbersOf = (events: readonly SessionEvent[]): readonly number[] =>
  events.flatMap((event) => ("n" in event && event.lane !== 0 ? [event.n] : []));
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function open(options: RedisChannelOptions): RedisChannel {
  const channel = redisChannel(options);
  onTestFinished(() => channel.close());
  return channel;
}

async function lineTo(redis: RedisProcess): Promise<FaultyProxy & { readonly url: string }> {
  const line = await faultyProxy({ target: { port: redis.port } });
  onTestFinished(() => line.close());
  return Object.assign(line, { url: `redis://${line.host}:${line.port}` });
}

/** Every wait is a part of the configured one. */
const hasty = (part: number): Clock => ({ ...systemClock, after: (ms, run, options) => systemClock.after(ms / part, run, options) });

/** A watcher that heals what it may have missed by what the lane can be recalled with. */
function watch(channel: RedisChannel) {
  const watcher = { received: [] as number[], known: new Set<number>(), gaps: 0 };
  const learn = (events: readonly SessionEvent[]): void => {
    for (const n of numbersOf(events)) watcher.known.add(n);
  };
  channel.subscribe(
    ref,
    (events) => {
      watcher.received.push(...numbersOf(events));
      learn(events);
    },
    {
      gap: () => {
        watcher.gaps++;
        void channel.recall(ref, lane).then(learn);
      },
    },
  );
  return watcher;
}

/** Resolves when a listener to the session at `listener` receives what is published at `speaker`. */
async function joined(speaker: RedisChannel, listener: RedisChannel): Promise<void> {
  let isReceived = false;
  const stop = listener.subscribe(ref, () => {
    isReceived = true;
  });
  const knock = (): boolean => {
    if (!isReceived) speaker.publish(ref, [{ type: "text_start", lane: 0, n: 1, index: 0 }]);
    return isReceived;
  };
  await expect.poll(knock).toBe(true);
  stop();
}

const isAscending = (numbers: readonly number[]): boolean => numbers.every((n, index) => index === 0 || n > (numbers[index - 1] ?? 0));

function lines(): { readonly logger: Logger; readonly written: string[] } {
  const written: string[] = [];
  return { written, logger: { log: (...line) => void written.push(JSON.stringify(line)) } };
}

describeWithRedis("a channel over Redis", (redis) => {
  const own = (options?: RedisChannelOptions): RedisChannelOptions => ({ url: redis().url, prefix: `test-${tests++}`, ...options });

  it("connects to nothing before its first use", async () => {
    const clients = async () => (await redis().command("CLIENT", "LIST")).split("id=").length;
    const before = await clients();
    const channel = redisChannel(own());
    expect(await clients()).toBe(before);
    await channel.close();
    expect(await clients()).toBe(before);
  });

  it("heals what a listener misses whose connection is killed again and again while events flow (R8)", async () => {
    const options = own();
    const [speaker, listener] = [open(options), open(options)];
    const watcher = watch(listener);
    await joined(speaker, listener);
    for (let n = 1; n <= 2_000; n++) {
      speaker.publish(ref, [delta(n)]);
      if (n % 10 === 0) await turn();
      if (n % 200 === 100) {
        const { gaps } = watcher;
        await redis().command("CLIENT", "KILL", "TYPE", "pubsub");
        for (let more = 0; more < 50; more++) speaker.publish(ref, [delta(++n)]);
        await expect.poll(() => watcher.gaps).toBeGreaterThan(gaps);
      }
    }
    await expect.poll(() => [...watcher.known].sort((a, b) => a - b)).toEqual(upTo(2_000));
    expect(isAscending(watcher.received)).toBe(true);
  });

  it("delivers every frame once and writes every ring once, whichever replies to the publisher are lost", async () => {
    const line = await lineTo(redis());
    const options = own();
    const [speaker, listener] = [open({ ...options, url: line.url }), open(options)];
    const watcher = watch(listener);
    await joined(speaker, listener);
    speaker.publish(ref, [delta(1)]);
    await expect.poll(() => watcher.received.length).toBe(1);
    line.infect({ swallowChance: 0.3 });
    for (let n = 2; n <= 60; n += 3) {
      speaker.publish(ref, [delta(n), delta(n + 1), delta(n + 2)]);
      await expect.poll(() => watcher.received.length).toBe(n + 2);
    }
    expect(line.counts.swallowed).toBeGreaterThan(0);
    line.infect();
    expect(watcher.received).toEqual(upTo(61));
    await expect.poll(async () => numbersOf(await listener.recall(ref, lane))).toEqual(upTo(61));
  });

  it("asks listeners repeatedly to poll while their Redis is silent, and receives again when it replies", async () => {
    const line = await lineTo(redis());
    const options = own();
    const [speaker, listener] = [open(options), open({ ...options, url: line.url, clock: hasty(10), deadlineMs: 3_000 })];
    const watcher = watch(listener);
    await joined(speaker, listener);
    line.infect({ toClient: { isHeld: true }, toServer: { isHeld: true } });
    speaker.publish(ref, [delta(1)]);
    await expect.poll(() => watcher.gaps).toBeGreaterThan(2);
    expect(watcher.received).toEqual([]);
    line.infect();
    await expect.poll(() => watcher.known.has(1)).toBe(true);
    let n = 1;
    const isReceived = (): boolean => {
      speaker.publish(ref, [delta(++n)]);
      return watcher.received.length > 0;
    };
    await expect.poll(isReceived).toBe(true);
    await expect.poll(() => watcher.received.at(-1)).toBe(n);
    expect(isAscending(watcher.received)).toBe(true);
  });

  it("treats invalid messages on its topic as a gap, and receives later ones", async () => {
    const options = own();
    const [speaker, listener] = [open(options), open(options)];
    const watcher = watch(listener);
    await joined(speaker, listener);
    const nonsense = [
      "",
      "nonsense",
      "2 node 1 0\nfirst []",
      "1 node 1 0\nfirst {",
      '1 node 2 1\nfirst [{"type":7}]',
      "1 node 3 2\n! []",
      '1 node 4 3\nfirst [{"type":"x"}]',
    ];
    for (const text of nonsense) {
      const { gaps } = watcher;
      await redis().command("PUBLISH", `${options.prefix}:events:local`, text);
      await expect.poll(() => watcher.gaps).toBe(gaps + 1);
    }
    speaker.publish(ref, [delta(1)]);
    await expect.poll(() => watcher.received).toEqual([1]);
  });

  it("notices a frame that never came", async () => {
    const options = own();
    const listener = open(options);
    const watcher = watch(listener);
    await joined(open(options), listener);
    const { gaps } = watcher;
    const say = (id: number, previous: number) =>
      redis().command("PUBLISH", `${options.prefix}:events:local`, `1 node ${id} ${previous}\nfirst [${JSON.stringify(delta(id))}]`);
    await say(1, 0);
    await say(2, 1);
    await say(2, 1);
    await expect.poll(() => watcher.received).toEqual([1, 2]);
    expect(watcher.gaps).toBe(gaps);
    await say(9, 8);
    await expect.poll(() => watcher.received).toEqual([1, 2, 9]);
    expect(watcher.gaps).toBe(gaps + 1);
  });

  it("keeps nothing in Redis but rings, which expire by themselves", async () => {
    const options = own();
    const channel = open(options);
    for (let n = 1; n <= 20; n++) {
      channel.publish(ref, [delta(n)]);
      channel.publish({ ...ref, session: "second" }, [{ ...delta(n), lane: 7 } as SessionEvent]);
      channel.notify("local", { type: "refresh" });
      await turn();
    }
    await channel.recall(ref, lane);
    const keys = (await redis().command("KEYS", `${options.prefix}:*`))
      .split("\r\n")
      .filter((text) => text.startsWith(options.prefix ?? ""));
    expect(keys.sort()).toEqual([`${options.prefix}:lane:{local.first}:5:0`, `${options.prefix}:lane:{local.second}:7:0`]);
    for (const key of keys) {
      const ttl = Number((await redis().command("PTTL", key)).slice(1));
      expect(ttl).toBeGreaterThan(9 * 60_000);
      expect(ttl).toBeLessThanOrEqual(10 * 60_000);
    }
  });

  it("replays a lane after Redis has lost its ring, and lets the new ring expire too", async () => {
    const options = own();
    const channel = open(options);
    channel.publish(ref, [delta(1), delta(2)]);
    await channel.recall(ref, lane);
    await redis().command("FLUSHALL");
    // A line of texts alone continues a line that is missing; the next one can be read again.
    channel.publish(ref, [delta(3)]);
    await channel.recall(ref, lane);
    channel.publish(ref, [{ type: "text_end", lane, n: 4, index: 0, text: "1 2 3 " }, delta(5)]);
    expect(numbersOf(await channel.recall(ref, lane))).toEqual([4, 5]);
    await redis().command("FLUSHALL");
    channel.publish(ref, [delta(7)]);
    await channel.recall(ref, lane);
    channel.publish(ref, [delta(8)]);
    expect(numbersOf(await channel.recall(ref, lane))).toEqual([7, 8]);
    expect(Number((await redis().command("PTTL", `${options.prefix}:lane:{local.first}:5:0`)).slice(1))).toBeGreaterThan(0);
  });

  it("leaves the topic of a scope without listeners after a while, and can come back", async () => {
    const options = own({ clock: hasty(100), deadlineMs: 500_000 });
    const [speaker, listener] = [open(own({ prefix: options.prefix ?? "" })), open(options)];
    const topic = `${options.prefix}:events:local`;
    const listeners = async () => (await redis().command("PUBSUB", "NUMSUB", topic)).split("\r\n").at(-1);
    for (let times = 0; times < 3; times++) {
      const received: number[] = [];
      const stop = listener.subscribe(ref, (events) => received.push(...numbersOf(events)));
      await expect.poll(listeners).toBe(":1");
      speaker.publish(ref, [delta(times)]);
      await expect.poll(() => received).toEqual([times]);
      stop();
      await expect.poll(listeners).toBe(":0");
    }
  });

  it("drops deltas first when too much waits, reports the gap to listeners, and keeps the hints of facts", async () => {
    const line = await lineTo(redis());
    const options = own();
    const { logger, written } = lines();
    const [speaker, listener] = [open({ ...options, url: line.url, outgoingBytes: 10_000, logger }), open(options)];
    const watcher = watch(listener);
    const durable: string[] = [];
    listener.subscribe(ref, (events) => void durable.push(...events.flatMap((event) => ("seq" in event ? [event.type] : []))));
    await joined(speaker, listener);
    speaker.publish(ref, [delta(1)]);
    await expect.poll(() => watcher.received).toEqual([1]);
    const { gaps } = watcher;
    line.infect({ isRefusing: true });
    line.cut("reset");
    speaker.publish(ref, [{ type: "aborting", reason: "x", seq: 9, k: 0, at: 1, sessionId: "first" }]);
    for (let n = 2; n <= 2_000; n++) speaker.publish(ref, [delta(n)]);
    line.infect();
    await expect.poll(() => watcher.gaps).toBe(gaps + 1);
    expect(written.some((text) => text.includes("dropped events"))).toBe(true);
    await expect.poll(() => durable).toEqual(["aborting"]);
    speaker.publish(ref, [delta(2_001)]);
    await expect.poll(() => watcher.received.at(-1)).toBe(2_001);
    expect(isAscending(watcher.received)).toBe(true);
    expect(watcher.received.length).toBeLessThan(1_000);
  });

  it("keeps carrying events when Redis has no memory for rings", async () => {
    const full = await startRedis({ args: ["--appendonly", "no", "--maxmemory", "1"] });
    onTestFinished(() => full.stop());
    const { logger, written } = lines();
    const [speaker, listener] = [open({ url: full.url, logger }), open({ url: full.url })];
    const watcher = watch(listener);
    await joined(speaker, listener);
    for (let n = 1; n <= 5; n++) {
      speaker.publish(ref, [delta(n)]);
      await turn();
    }
    await expect.poll(() => watcher.received).toEqual(upTo(5));
    expect(written.some((text) => text.includes("OOM"))).toBe(true);
    expect(await speaker.recall(ref, lane)).toEqual([]);
  });

  it("asks a Redis that refuses to publish at growing intervals, and logs it once", async () => {
    await redis().command("ACL", "SETUSER", "mute", "on", ">hunter2", "~*", "&*", "+@all", "-publish");
    const { logger, written } = lines();
    const pauses: number[] = [];
    const others = [777_000, 1_000];
    const after: Clock["after"] = (ms, run, options) => {
      if (!others.includes(ms)) pauses.push(ms);
      return systemClock.after(ms / 100, run, options);
    };
    const url = redis().url.replace("redis://", "redis://mute:hunter2@");
    const channel = open(own({ url, deadlineMs: 777_000, clock: { ...systemClock, after }, logger }));
    channel.publish(ref, [delta(1)]);
    await expect.poll(() => pauses.length).toBeGreaterThan(4);
    expect(pauses[4]).toBeGreaterThanOrEqual(400);
    expect(written).toEqual([expect.stringContaining("NOPERM")]);
    await redis().command("ACL", "SETUSER", "mute", "+publish");
    await expect.poll(() => written.length).toBe(2);
    expect(written[1]).toContain("reached Redis again");
  });

  it("waits for no Redis any longer once a try to reach it has failed", async () => {
    const channel = open({ url: "redis://127.0.0.1:1", deadlineMs: 500_000 });
    expect(await channel.recall(ref, lane)).toEqual([]);
  });

  it("delivers to its own node, replays nothing and shows no secret without a Redis", async () => {
    for (const url of ["redis://user:hunter2@127.0.0.1:1", redis().url.replace("redis://", "redis://user:hunter2@")]) {
      const { logger, written } = lines();
      const channel = open({ url, deadlineMs: 200, logger });
      const received: number[] = [];
      channel.subscribe(ref, (events) => received.push(...numbersOf(events)));
      channel.publish(ref, [delta(1)]);
      await expect.poll(() => received).toEqual([1]);
      expect(await channel.recall(ref, lane)).toEqual([]);
      await expect.poll(() => written.length).toBeGreaterThan(0);
      expect(written.join()).not.toContain("hunter2");
      await channel.close();
    }
  });

  it("lets the process end once it is closed and the last events are sent, with Redis and without", async () => {
    const options = own();
    for (const url of [redis().url, "redis://127.0.0.1:1"]) {
      const program = `
        const { redisChannel } = await import(${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)});
        const channel = redisChannel({ url: ${JSON.stringify(url)}, prefix: ${JSON.stringify(options.prefix)}, deadlineMs: 500 });
        channel.subscribe(${JSON.stringify(ref)}, () => {});
        channel.publish(${JSON.stringify(ref)}, [${JSON.stringify(delta(1))}]);
        await channel.close();`;
      const child = spawn(process.execPath, ["--conditions=@loopwright/source", "--input-type=module", "--eval", program], {
        stdio: "inherit",
      });
      expect(await once(child, "exit")).toEqual([0, null]);
    }
    expect(numbersOf(await open(options).recall(ref, lane))).toEqual([1]);
  });

  it("refuses options that name no Redis, or two", () => {
    for (const options of [{}, { url: "hunter2" }, { url: "http://hunter2@x" }, { url: "redis://x", clientOptions: {} }])
      expect(() => redisChannel(options)).toThrow(
        expect.objectContaining({ code: "CONFIG_INVALID", message: expect.not.stringContaining("hunter2") }),
      );
  });
});

describeWithRedis("a channel whose Redis dies", () => {
  it("reports the gap to listeners and carries events again after a restart with empty data", async () => {
    const redis = await startRedis({ args: ["--appendonly", "no"] });
    onTestFinished(() => redis.stop());
    const clock = hasty(10);
    const [speaker, listener] = [open({ url: redis.url, clock, deadlineMs: 20_000 }), open({ url: redis.url, clock, deadlineMs: 20_000 })];
    const watcher = watch(listener);
    await joined(speaker, listener);
    for (let round = 0; round < 3; round++) {
      const { gaps } = watcher;
      await redis.kill();
      for (let n = 1; n <= 20; n++) speaker.publish(ref, [delta(round * 100 + n)]);
      await expect.poll(() => watcher.gaps).toBeGreaterThan(gaps);
      const { gaps: away } = watcher;
      await redis.restart();
      await expect.poll(() => watcher.gaps).toBeGreaterThan(away);
      speaker.publish(ref, [delta(round * 100 + 21)]);
      await expect.poll(() => watcher.known.has(round * 100 + 21)).toBe(true);
    }
    expect(isAscending(watcher.received)).toBe(true);
  });
});
