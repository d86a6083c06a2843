import { manualClock } from "@loopwright/core/memory";
import type { SessionRef } from "@loopwright/core/ports";
import { faultyProxy } from "@loopwright/simulator/node";
import { blobStoreKit, leaseKit, runKit, sessionIndexKit, sessionLogKit, snapshotStoreKit, type Tampering } from "@loopwright/testing";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { commandCount } from "./command-count.ts";
import { copyOfKeys } from "./copy-of-keys.ts";
import { damageFact, tamperWithFact } from "./damage-fact.ts";
import { missing, redisFixture } from "./redis-fixture.ts";

const fixture = redisFixture();

/** A store of its own in the Redis of this file, over a line of its own, and how to open it again. */
async function fresh(options: { readonly deadlineMs?: number; readonly searchSessionsMax?: number } = {}) {
  const prefix = fixture.prefix();
  const clock = manualClock();
  const proxy = await faultyProxy({ target: { port: fixture.redis.port } });
  onTestFinished(() => proxy.close());
  const open = () => fixture.open({ url: `redis://127.0.0.1:${proxy.port}`, prefix, clock, ...options });
  const store = open();
  const reopen = async () => {
    await store.close();
    return open();
  };
  return { ...store, prefix, clock, proxy, open, reopen };
}

async function logUnderTest() {
  const { log, prefix, clock, proxy, open, reopen } = await fresh({ deadlineMs: 8_000 });
  // Connected, and known to Redis: the next answer is the one to an append.
  await log.append(
    { scope: "local", session: "warm" },
    { batchId: "warm", expectedSeq: 0, facts: [{ type: "session.closed", at: 1, v: 1 }] },
  );
  return {
    log,
    advance: (ms: number) => clock.advance(ms),
    reopen: async () => (await reopen()).log,
    another: async () => open().log,
    ruin: (ref: SessionRef) => ruinings["a text in place of its meta"](prefix, ref),
    damage: (ref: SessionRef, seq: number) => damageFact(fixture.redis, { prefix, ref, seq }),
    tamper: (ref: SessionRef, seq: number, way: Tampering) => tamperWithFact(fixture.redis, { prefix, ref, seq, way }),
    rollBack: () => copyOfKeys(fixture.redis, prefix),
    fill: async () => {
      await fixture.redis.command("CONFIG", "SET", "maxmemory", "1");
      return async () => void (await fixture.redis.command("CONFIG", "SET", "maxmemory", "0"));
    },
    loseAnswer: () => proxy.swallowNext(),
    work: () => commandCount(fixture.redis),
  };
}

/** Ways to make what Redis keeps of a session unreadable, past the store. */
const ruinings = Object.fromEntries(
  [["meta"], ["facts"], ["view"], ["texts"], ["blobs"], ["meta", "facts", "batches", "drafts", "view", "texts", "blobs"]].map((names) => [
    `a text in place of its ${names.join(", ")}`,
    async (prefix: string, { scope, session }: SessionRef): Promise<void> => {
      for (const name of names) await fixture.redis.command("SET", `${prefix}:{${scope}.${session}}:${name}`, "nonsense");
    },
  ]),
) as { readonly [way: string]: (prefix: string, ref: SessionRef) => Promise<void> } & {
  readonly "a text in place of its meta": (prefix: string, ref: SessionRef) => Promise<void>;
};

describe.skipIf(missing !== undefined)("the store in Redis", () => {
  afterEach(async () => {
    await fixture.redis.command("CONFIG", "SET", "maxmemory", "0");
  });
  describe("A32: session log", () => runKit(it, sessionLogKit, { make: logUnderTest }));
  describe("leases", () => runKit(it, leaseKit, { make: logUnderTest }));
  describe("session index", () =>
    runKit(it, sessionIndexKit, {
      make: async () => {
        const { log, index, prefix, reopen } = await fresh({ searchSessionsMax: 20 });
        return {
          log,
          index,
          ruin: (ref) => ruinings["a text in place of its meta"](prefix, ref),
          reopen: async () => (await reopen()).index,
          work: () => commandCount(fixture.redis),
        };
      },
    }));
  describe("blob store", () =>
    runKit(it, blobStoreKit, {
      make: async () => {
        const { blobs, log, reopen } = await fresh();
        return { blobs, log, reopen: async () => (await reopen()).blobs };
      },
    }));
  describe("snapshot store", () => runKit(it, snapshotStoreKit, { make: fresh }));
});

describe.skipIf(missing !== undefined).each(Object.entries(ruinings))("a session with %s is the only one that suffers", (way, ruin) => {
  const isOfLog = /meta|facts/.test(way);
  if (isOfLog)
    runKit(
      it,
      sessionLogKit.filter(({ needs }) => needs?.includes("ruin")),
      {
        make: async () => {
          const { log, prefix, reopen } = await fresh();
          return { log, ruin: (ref) => ruin(prefix, ref), reopen: async () => (await reopen()).log };
        },
      },
    );
  runKit(
    it,
    sessionIndexKit.filter(({ needs }) => needs?.includes("ruin")),
    {
      make: async () => {
        const { log, index, prefix, reopen } = await fresh();
        return { log, index, ruin: (ref) => ruin(prefix, ref), reopen: async () => (await reopen()).index };
      },
    },
  );
  it("it can be removed, a check names it, and the others are checked", async () => {
    const { log, check, prefix } = await fresh();
    for (const session of ["bad", "good"]) await log.append({ scope: "local", session }, noteBatch);
    await ruin(prefix, { scope: "local", session: "bad" });
    expect(await check()).toMatchObject({ sessionCount: 2, damaged: isOfLog ? ["local/bad"] : [] });
    await log.remove({ scope: "local", session: "bad" });
    expect(await check()).toMatchObject({ sessionCount: 1, damaged: [] });
    expect(await log.append({ scope: "local", session: "bad" }, noteBatch)).toEqual({ type: "closed" });
  });
  it("a file that it shares with others is read, taken over and removed as before", async () => {
    const { blobs, prefix } = await fresh();
    const bytes = Uint8Array.of(1, 2);
    await blobs.put("local", "upload-1", { bytes });
    for (const session of ["bad", "good"]) await blobs.own("local", "upload-1", session);
    await ruin(prefix, { scope: "local", session: "bad" });
    expect(await blobs.get("local", "upload-1")).toEqual({ bytes });
    expect(await blobs.own("local", "upload-1", "third")).toBe(true);
    if (way.includes("blobs")) {
      const own = { bytes, session: "bad" };
      await expect(blobs.put("local", "upload-2", own)).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
      await expect(blobs.get("local", "upload-1", own)).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
    }
    expect(await blobs.remove("local", "upload-1")).toBe(true);
    expect(await blobs.get("local", "upload-1")).toBeUndefined();
  });
});

const noteBatch = {
  batchId: "b",
  expectedSeq: 0,
  facts: [{ type: "session.opened", agent: "helper", title: "Apples", at: 1, v: 1 }],
} as const;
