import type { SessionRef } from "@loopwright/core/ports";
import { blobStoreKit, draftStoreKit, leaseKit, manualClock, runKit, sessionIndexKit, sessionLogKit } from "@loopwright/core/testing";
import { faultyProxy } from "@loopwright/simulator/node";
import { afterEach, describe, it, onTestFinished } from "vitest";
import { damageFact } from "./damage-fact.ts";
import { missing, redisFixture } from "./redis-fixture.ts";

const fixture = redisFixture();

/** A store of its own in the Redis of this file, over a line of its own, and how to open it again. */
async function fresh() {
  const prefix = fixture.prefix();
  const clock = manualClock();
  const proxy = await faultyProxy({ target: { port: fixture.redis.port } });
  onTestFinished(() => proxy.close());
  const open = () => fixture.open({ url: `redis://127.0.0.1:${proxy.port}`, prefix, clock });
  const store = open();
  const reopen = async () => {
    await store.close();
    return open();
  };
  return { ...store, prefix, clock, proxy, open, reopen };
}

async function logUnderTest() {
  const { log, prefix, clock, proxy, open, reopen } = await fresh();
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
    damage: (ref: SessionRef, seq: number) => damageFact(fixture.redis, { prefix, ref, seq }),
    fill: async () => {
      await fixture.redis.command("CONFIG", "SET", "maxmemory", "1");
      return async () => void (await fixture.redis.command("CONFIG", "SET", "maxmemory", "0"));
    },
    loseAnswer: () => proxy.swallowNext(),
  };
}

describe.skipIf(missing !== undefined)("the store in Redis", () => {
  afterEach(async () => {
    await fixture.redis.command("CONFIG", "SET", "maxmemory", "0");
  });
  describe("session log", () => runKit(it, sessionLogKit, { make: logUnderTest }));
  describe("leases", () => runKit(it, leaseKit, { make: logUnderTest }));
  describe("session index", () =>
    runKit(it, sessionIndexKit, {
      make: async () => {
        const { log, index, reopen } = await fresh();
        return { log, index, reopen: async () => (await reopen()).index };
      },
    }));
  describe("blob store", () =>
    runKit(it, blobStoreKit, {
      make: async () => {
        const { blobs, reopen } = await fresh();
        return { blobs, reopen: async () => (await reopen()).blobs };
      },
    }));
  describe("draft store", () => runKit(it, draftStoreKit, { make: fresh }));
});
