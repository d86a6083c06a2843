import { isAgentError } from "@loopwright/core";
import { seededRandom } from "@loopwright/core/memory";
import { faultyProxy } from "@loopwright/simulator/node";
import { describe, expect, it, onTestFinished } from "vitest";
import type { RedisStore } from "../src/index.ts";
import { missing, redisFixture } from "./redis-fixture.ts";
import { batch, fill, other, patiently, ref } from "./samples.ts";
import { appendUnderSwallowedReplies } from "./swallowed-replies.ts";

const fixture = redisFixture(["--appendfsync", "always"]);
const deadlineMs = 300;

/** A store over a line that can be made bad. */
async function overLine(prefix = fixture.prefix(), toxics = {}) {
  const proxy = await faultyProxy({ target: { port: fixture.redis.port }, toxics });
  onTestFinished(() => proxy.close());
  const store = fixture.open({ url: `redis://127.0.0.1:${proxy.port}`, prefix, deadlineMs });
  return { proxy, store, prefix };
}

/** One call of everything, and how each ended. */
function census({ log, index, blobs, snapshots }: RedisStore): Promise<readonly string[]> {
  const bytes = Uint8Array.of(1);
  const calls: readonly Promise<unknown>[] = [
    log.read(ref),
    log.head(ref),
    log.claim(ref, { node: "n", leaseMs: 1_000 }),
    log.renew(ref, { epoch: 1, leaseMs: 1_000 }),
    log.release(ref, 1),
    log.due({ now: 1 }),
    log.setDue(ref, { expectedSeq: 1, due: 1 }),
    log.remove(other),
    index.list("local"),
    index.get("local", "first"),
    index.search("local", "word"),
    index.rebuild("local"),
    blobs.put("local", "key", { bytes }),
    blobs.get("local", "key"),
    blobs.remove("local", "key"),
    blobs.list("local"),
    snapshots.put(ref, "name", 1),
    snapshots.get(ref, "name"),
    snapshots.remove(ref, "name"),
  ];
  return Promise.all(
    calls.map((call) =>
      call.then(
        () => "done",
        (error) => (isAgentError(error) ? error.code : String(error)),
      ),
    ),
  );
}

describe.skipIf(missing !== undefined)("a line to Redis that fails", () => {
  it("loses every fourth reply, and every batch is in the log exactly once", async () => {
    const { port } = fixture.redis;
    const result = await appendUnderSwallowedReplies({ port, prefix: fixture.prefix(), count: 200, chance: 0.25, seed: 5 });
    expect([...result.entries].sort()).toEqual([...result.batches].sort());
    expect(new Set(result.entries).size).toBe(200);
    expect(result.unknowns).toBeGreaterThan(10);
  });

  for (const [what, held] of [
    ["both ways", { toServer: { isHeld: true }, toClient: { isHeld: true } }],
    ["towards Redis", { toServer: { isHeld: true } }],
    ["on the way back", { toClient: { isHeld: true } }],
  ] as const)
    it(`is a black hole ${what}: an append is unknown, all else STORE_UNAVAILABLE, and nothing stays pending`, async () => {
      const { proxy, store } = await overLine();
      await fill(store.log, 2);
      proxy.infect(held);
      const [outcome, others] = await Promise.all([store.log.append(ref, batch(2, "in the hole")), census(store)]);
      expect(outcome).toEqual({ type: "unknown" });
      expect(new Set(others)).toEqual(new Set(["STORE_UNAVAILABLE"]));
      // The connection was given up: a new call is never sent, and its error reports it.
      await expect(store.log.append(ref, batch(2, "later"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
      proxy.infect();
      const again = await patiently(
        () => store.log.append(ref, batch(2, "in the hole")),
        ({ type }) => type !== "unknown",
      );
      expect(["ok", "dup"]).toContain(again.type);
      expect(await patiently(() => store.log.read(ref))).toHaveLength(3);
    });

  it("is silent from the start: the first command fails at the deadline, and the store works once the line does", async () => {
    const { proxy, store } = await overLine(undefined, { toServer: { isHeld: true } });
    await expect(store.log.head(ref)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    proxy.infect();
    expect(await patiently(() => store.log.append(ref, batch(0)))).toEqual({ type: "ok", lastSeq: 1 });
  });

  it("refuses connections: what was surely not sent fails at once, appends too", async () => {
    const { proxy, store } = await overLine();
    await fill(store.log, 1);
    proxy.infect({ isRefusing: true });
    proxy.cut("reset");
    // The first may be sent before the end of the connection is noticed.
    await store.log.append(ref, batch(1)).catch(() => {});
    for (let turn = 0; turn < 5; turn++)
      await expect(store.log.append(ref, batch(1))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
    proxy.infect();
    expect((await patiently(() => store.log.append(ref, batch(1)))).type).toBe("ok");
  });

  it("is cut in the middle of a batch: nothing of it is written, and the same batch is written once", async () => {
    const { proxy, store } = await overLine();
    await fill(store.log, 1);
    proxy.infect({ toServer: { cutAfterBytes: 100_000 } });
    const large = batch(1, "x".repeat(200_000));
    expect(await store.log.append(ref, large)).toEqual({ type: "unknown" });
    proxy.infect();
    expect(await patiently(() => store.log.append(ref, large))).toEqual({ type: "ok", lastSeq: 2 });
  });

  it("spoils bytes: what is read is what was written, or an error", async () => {
    const { proxy, store } = await overLine();
    await fill(store.log, 30);
    const sound = await store.log.read(ref);
    proxy.infect({ toClient: { garbleChance: 0.5 } });
    let errors = 0;
    for (let turn = 0; turn < 40; turn++)
      await store.log.read(ref).then(
        (facts) => expect(facts).toEqual(sound),
        () => errors++,
      );
    expect(errors).toBeGreaterThan(0);
    proxy.infect();
    await patiently(() => store.check());
    expect(await patiently(() => store.log.read(ref))).toEqual(sound);
  });
});

describe.skipIf(missing !== undefined)("a Redis that fails", () => {
  it("is killed in the middle of appends and started again: what was acknowledged is there, in order, once", async () => {
    const store = fixture.open({ deadlineMs });
    const refs = Array.from({ length: 8 }, (_, index) => ({ scope: "local", session: `s${index}` }));
    const acked = new Map<string, number>();
    let isOver = false;
    const writers = refs.map(async (each) => {
      for (let seq = 0; !isOver || seq < 5; ) {
        const outcome = await patiently(
          () => store.log.append(each, batch(seq, each.session)),
          ({ type }) => type !== "unknown",
        );
        expect(["ok", "dup"]).toContain(outcome.type);
        acked.set(each.session, ++seq);
      }
    });
    for (let turn = 0; turn < 3; turn++) {
      const before = [...acked.values()].reduce((sum, count) => sum + count, 0);
      await expect.poll(() => [...acked.values()].reduce((sum, count) => sum + count, 0), { interval: 1 }).toBeGreaterThan(before + 40);
      await fixture.redis.restart();
    }
    isOver = true;
    await Promise.all(writers);
    for (const each of refs) {
      const facts = await store.log.read(each);
      expect(facts.map(({ seq }) => seq)).toEqual(Array.from({ length: acked.get(each.session) ?? 0 }, (_, at) => at + 1));
    }
  });

  it("is paused: writes are answered within the deadline, and it is used again when it resumes", async () => {
    const store = fixture.open({ deadlineMs });
    await fill(store.log, 1);
    fixture.redis.pause();
    const [outcome, others] = await Promise.all([store.log.append(ref, batch(1)), census(store)]);
    await expect(store.log.head(ref)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    fixture.redis.resume();
    expect(outcome).toEqual({ type: "unknown" });
    expect(new Set(others)).toEqual(new Set(["STORE_UNAVAILABLE"]));
    const again = await patiently(
      () => store.log.append(ref, batch(1)),
      ({ type }) => type !== "unknown",
    );
    expect(["ok", "dup"]).toContain(again.type);
    expect(await store.log.read(ref)).toHaveLength(2);
  });

  it("forgets its scripts: they are sent again", async () => {
    const store = fixture.open();
    await fill(store.log, 1);
    await fixture.redis.command("SCRIPT", "FLUSH");
    expect((await store.log.append(ref, batch(1))).type).toBe("ok");
    expect(await store.log.head(ref)).toEqual({ lastSeq: 2, epoch: 0 });
  });

  it("ends connections: the next command makes a new one", async () => {
    const store = fixture.open();
    await fill(store.log, 1);
    await fixture.redis.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    expect(
      await patiently(
        () => store.log.append(ref, batch(1)),
        ({ type }) => type !== "unknown",
      ),
    ).toMatchObject({ lastSeq: 2 });
  });

  it("ends only the subscribed connection: subscribers are soon notified of what was missed, and of what comes later", async () => {
    const prefix = fixture.prefix();
    const [listening, writing] = [fixture.open({ prefix }), fixture.open({ prefix })];
    const notified: number[] = [];
    listening.log.subscribe?.(ref, (lastSeq) => notified.push(lastSeq));
    await writing.log.append(ref, batch(0));
    await expect.poll(() => notified).toContain(1);
    for (let turn = 0; turn < 10; turn++) {
      await fixture.redis.command("CLIENT", "KILL", "TYPE", "pubsub");
      await writing.log.append(ref, batch(turn + 1));
      await expect.poll(() => notified).toContain(turn + 2);
    }
    await writing.log.append(ref, batch(11));
    await expect.poll(() => notified).toContain(12);
  });

  it("falls silent towards a subscriber: that is noticed, and what was missed is delivered", async () => {
    const { proxy, store, prefix } = await overLine();
    const notified: number[] = [];
    store.log.subscribe?.(ref, (lastSeq) => notified.push(lastSeq));
    await fixture.open({ prefix }).log.append(ref, batch(0));
    await expect.poll(() => notified).toContain(1);
    proxy.infect({ toClient: { isHeld: true } });
    await fixture.open({ prefix }).log.append(ref, batch(1));
    const { connections } = proxy.counts;
    await expect.poll(() => proxy.counts.connections).toBeGreaterThan(connections);
    proxy.infect();
    await expect.poll(() => notified).toContain(2);
  });

  it("has no memory left: appends answer `full`, blobs and snapshots STORE_FULL, reads work, and writes work again when there is memory", async () => {
    const store = fixture.open();
    await fill(store.log, 2);
    await fixture.redis.command("CONFIG", "SET", "maxmemory", "1");
    expect(await store.log.append(ref, batch(2))).toEqual({ type: "full" });
    await expect(store.blobs.put("local", "key", { bytes: Uint8Array.of(1) })).rejects.toMatchObject({ code: "STORE_FULL" });
    await expect(store.snapshots.put(ref, "name", 1)).rejects.toMatchObject({ code: "STORE_FULL" });
    expect(await store.log.read(ref)).toHaveLength(2);
    expect((await store.index.list("local")).map(({ id }) => id)).toEqual(["first"]);
    await store.log.remove(ref);
    await fixture.redis.command("CONFIG", "SET", "maxmemory", "0");
    expect(await store.log.append(ref, batch(2))).toEqual({ type: "closed" });
    expect((await store.log.append(other, batch(0))).type).toBe("ok");
  });

  it("becomes a replica: writes are STORE_READ_ONLY, the connection is looked at anew, and all is well when it is primary again", async () => {
    const store = fixture.open();
    await fill(store.log, 1);
    await fixture.redis.command("REPLICAOF", "127.0.0.1", "1");
    onTestFinished(async () => void (await fixture.redis.command("REPLICAOF", "NO", "ONE")));
    await expect(store.log.append(ref, batch(1))).rejects.toMatchObject({ code: "STORE_READ_ONLY", retryable: true });
    await expect(store.log.append(ref, batch(1))).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("replica"),
    });
    await fixture.redis.command("REPLICAOF", "NO", "ONE");
    expect((await patiently(() => store.log.append(ref, batch(1)))).type).toBe("ok");
  });

  it("gets another password: the error has a name and no secret, and the store works when the password is right again", async () => {
    const { port } = fixture.redis;
    const store = fixture.open({ url: `redis://:hush-hush@127.0.0.1:${port}`, deadlineMs });
    const admin = fixture.open({ prefix: "admin" });
    await admin.log.head(ref);
    await fixture.redis.command("CONFIG", "SET", "requirepass", "other-secret");
    onTestFinished(async () => {
      // The server wants the password by now.
      await fixture.redis.restart();
    });
    const error: unknown = await store.log.append(ref, batch(0)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", message: expect.stringContaining("refuses the user or the password") });
    expect(JSON.stringify([error, String(error), error instanceof Error ? error.stack : ""])).not.toMatch(/hush|other-secret/);
    await fixture.redis.restart({ args: ["--appendfsync", "always", "--requirepass", "hush-hush"] });
    expect((await patiently(() => store.log.append(ref, batch(0)))).type).toBe("ok");
    await fixture.redis.restart({ args: ["--appendfsync", "always"] });
  });

  it("is away when the store is made: nothing is asked of it before the first use, which then gets the error", async () => {
    const store = fixture.open({ url: "redis://127.0.0.1:1", deadlineMs });
    await expect(store.log.append(ref, batch(0))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringMatching(/127\.0\.0\.1:1 .*ECONNREFUSED/),
    });
    await store.close();
    await expect(store.log.head(ref)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", message: expect.stringContaining("closed") });
  });

  it("is slow: a subscriber is notified of appends however it left and came back before Redis answered", async () => {
    const { proxy, store, prefix } = await overLine();
    const there = fixture.open({ prefix });
    const random = seededRandom(20);
    const below = (limit: number): number => Math.floor(random() * limit);
    const received: number[] = [];
    let stop: (() => void) | undefined;
    const turn = (): void => {
      stop?.();
      stop = stop ? undefined : store.log.subscribe?.(ref, (lastSeq) => received.push(lastSeq));
    };
    await fill(there.log, 1);
    proxy.infect({ toServer: { latencyMs: 2 }, toClient: { latencyMs: 2, jitterMs: 3 } });
    for (let round = 1; round <= 60; round++) {
      for (let turns = 1 + below(5); turns > 0; turns--) {
        turn();
        for (let steps = below(40); steps > 0; steps--) await new Promise((resolve) => setImmediate(resolve));
      }
      if (!stop) turn();
      // Received more than once: a connection may still deliver for a channel that it is about to leave.
      for (let times = 0; times < 2; times++) {
        const lastSeq = 2 * round + times;
        await there.log.append(ref, batch(lastSeq - 1, `${lastSeq}`));
        await expect.poll(() => received, { timeout: 2_000, interval: 1 }).toContain(lastSeq);
      }
    }
  });
});
