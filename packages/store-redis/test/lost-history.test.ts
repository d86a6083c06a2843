import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, createSession, execute } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { describe, expect, it, onTestFinished } from "vitest";
import { missing, redisFixture } from "./redis-fixture.ts";
import { batch, fill, patiently, ref } from "./samples.ts";

const fixture = redisFixture(["--appendfsync", "always"]);

/** The data of Redis as it is now; `back` kills it and starts it again with that, as a replica that had received no more would be. */
async function photograph(): Promise<{ readonly back: () => Promise<void> }> {
  const { redis } = fixture;
  const folder = mkdtempSync(join(tmpdir(), "loopwright-older-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(redis.dir, folder, { recursive: true });
  return {
    async back() {
      await redis.kill();
      rmSync(redis.dir, { recursive: true, force: true });
      cpSync(folder, redis.dir, { recursive: true });
      await redis.restart();
    },
  };
}

describe.skipIf(missing !== undefined)("a Redis that has lost everything", () => {
  for (const [how, lose] of [
    ["it was flushed", () => fixture.redis.command("FLUSHALL")],
    [
      "it was started again with an empty folder",
      async () => {
        await fixture.redis.kill();
        rmSync(fixture.redis.dir, { recursive: true, force: true });
        cpSync(mkdtempSync(join(tmpdir(), "loopwright-empty-")), fixture.redis.dir, { recursive: true });
        await fixture.redis.restart();
      },
    ],
  ] as const)
    it(`${how}: no session that was known becomes an empty one in silence`, async () => {
      const store = fixture.open();
      await fill(store.log, 5);
      await lose();
      await expect(patiently(() => store.log.append(ref, batch(5)))).resolves.toEqual({ type: "conflict", actualSeq: 0 });
      await expect(store.log.read(ref)).rejects.toMatchObject({ code: "HISTORY_LOST", details: { seq: 0, knownSeq: 5 } });
      await expect(store.log.read(ref, { from: 5 })).rejects.toMatchObject({ code: "HISTORY_LOST" });
      await expect(store.log.head(ref)).rejects.toMatchObject({ code: "HISTORY_LOST" });
      expect((await store.log.append({ scope: "local", session: "new" }, batch(0))).type).toBe("ok");
    });

  it("notifies a subscriber that is connected again, which then finds the loss", async () => {
    const store = fixture.open();
    await fill(store.log, 3);
    const notified: number[] = [];
    store.log.subscribe?.(ref, (lastSeq) => notified.push(lastSeq));
    await expect.poll(() => notified).toContain(3);
    notified.length = 0;
    await fixture.redis.command("FLUSHALL");
    await fixture.redis.command("CLIENT", "KILL", "TYPE", "pubsub");
    await expect.poll(() => notified.length).toBeGreaterThan(0);
    await expect(store.log.read(ref, { from: 3 })).rejects.toMatchObject({ code: "HISTORY_LOST" });
  });

  it("fences the owner of the time before, whatever epoch the next one gets", async () => {
    const prefix = fixture.prefix();
    const [old, next] = [fixture.open({ prefix }), fixture.open({ prefix })];
    expect(await old.log.claim(ref, { node: "old", leaseMs: 60_000 })).toMatchObject({ epoch: 1 });
    await fixture.redis.command("FLUSHALL");
    expect(await old.log.append(ref, batch(0, "orphan", { epoch: 1 }))).toEqual({ type: "fenced", currentEpoch: 0 });
    expect(await next.log.claim(ref, { node: "next", leaseMs: 60_000 })).toMatchObject({ type: "claimed", epoch: 1 });
    expect(await old.log.append(ref, batch(0, "zombie", { epoch: 1 }))).toEqual({ type: "fenced", currentEpoch: 1 });
    expect(await old.log.renew(ref, { epoch: 1, leaseMs: 60_000 })).toBe(false);
    await old.log.release(ref, 1);
    expect((await next.log.head(ref)).lease?.node).toBe("next");
    expect(await next.log.append(ref, batch(0, "owner", { epoch: 1 }))).toEqual({ type: "ok", lastSeq: 1 });
  });
});

describe.skipIf(missing !== undefined)("a Redis that went back to an older state", () => {
  it("has lost the end of a session: its first read reports it", async () => {
    const store = fixture.open();
    await fill(store.log, 3);
    const { back } = await photograph();
    for (let seq = 3; seq < 6; seq++) await store.log.append(ref, batch(seq));
    await back();
    await expect(patiently(() => store.log.append(ref, batch(6)))).resolves.toEqual({ type: "conflict", actualSeq: 3 });
    await expect(store.log.read(ref, { from: 6 })).rejects.toMatchObject({ code: "HISTORY_LOST", details: { seq: 3, knownSeq: 6 } });
  });

  it("and was continued by others: a process that knows the lost facts is never given those in their place", async () => {
    const prefix = fixture.prefix();
    const store = fixture.open({ prefix });
    await fill(store.log, 3);
    const { back } = await photograph();
    for (let seq = 3; seq < 6; seq++) await store.log.append(ref, batch(seq, "gone"));
    await back();
    const other = fixture.open({ prefix });
    for (let seq = 3; seq < 6; seq++) expect((await patiently(() => other.log.append(ref, batch(seq, "instead")))).type).toBe("ok");
    await expect(patiently(() => store.log.append(ref, batch(6)))).rejects.toMatchObject({ code: "HISTORY_LOST" });
    for (let seq = 6; seq < 9; seq++) expect((await other.log.append(ref, batch(seq, "instead"))).type).toBe("ok");
    for (const range of [{}, { from: 6 }, { from: 7 }])
      await expect(store.log.read(ref, range)).rejects.toMatchObject({
        code: "HISTORY_LOST",
        message: expect.stringContaining("older state"),
      });
    expect(await other.log.read(ref)).toHaveLength(9);
  });

  it("gives one epoch twice: the claim that is gone is fenced", async () => {
    const prefix = fixture.prefix();
    const store = fixture.open({ prefix });
    await store.log.claim(ref, { node: "one", leaseMs: 60_000 });
    const { back } = await photograph();
    expect(await store.log.claim(ref, { node: "one", leaseMs: 60_000 })).toMatchObject({ epoch: 2 });
    await back();
    const other = fixture.open({ prefix });
    await patiently(() => other.log.release(ref, 1));
    expect(await patiently(() => other.log.claim(ref, { node: "two", leaseMs: 60_000 }))).toMatchObject({ type: "claimed", epoch: 2 });
    expect(await patiently(() => store.log.append(ref, batch(0, "zombie", { epoch: 2 })))).toEqual({ type: "fenced", currentEpoch: 2 });
  });
});

describe.skipIf(missing !== undefined)("a handle over a Redis that has lost everything", () => {
  it("rejects appends, and begins no new history in silence", async () => {
    const store = fixture.open();
    const agent = createAgent({ name: "told", provider: scripted([{ text: "One." }, { text: "Two." }]) });
    const session = createSession({ agent, id: ref.session, store });
    await execute(session, "First.").result();
    const { lastSeq } = await store.log.head(ref);
    expect(lastSeq).toBeGreaterThan(3);
    await fixture.redis.command("FLUSHALL");
    const outcome = await session.submit("Second.").then(
      () => "accepted",
      (error) => error.code,
    );
    // The driver sees the shorter log by itself and calls it corrupt, unless its claim has found out before; a new handle has the word of the store.
    expect(["HISTORY_LOST", "SESSION_CORRUPT", "STORE_ROLLED_BACK"]).toContain(outcome);
    await expect(createSession({ agent, id: ref.session, store }).ready()).rejects.toMatchObject({ code: "HISTORY_LOST" });
  });
});
