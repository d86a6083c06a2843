import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentError, createAgent, createSession, defineTool } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { describe, expect, it, onTestFinished } from "vitest";
import { missing, redisFixture } from "./redis-fixture.ts";
import { batch, fill, patiently, ref } from "./samples.ts";

const fixture = redisFixture(["--appendfsync", "always"]);
const claim = { node: "n", leaseMs: 15_000 };
const refused = { code: "STORE_ROLLED_BACK" };

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "loopwright-older-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A backup of the data of Redis; `restore` kills Redis and starts it again with it, under running processes. */
function backup(): { readonly restore: () => Promise<void> } {
  const { redis } = fixture;
  const folder = freshFolder();
  cpSync(redis.dir, folder, { recursive: true });
  return {
    async restore() {
      await redis.kill();
      rmSync(redis.dir, { recursive: true, force: true });
      cpSync(folder, redis.dir, { recursive: true });
      await redis.restart();
    },
  };
}

/** Asks again while Redis is being started. */
const soon = <T>(ask: () => Promise<T>): Promise<T> => patiently(ask);

describe.skipIf(missing !== undefined)("a Redis that was put back from a backup under running processes", () => {
  it("lets no process claim or write once one has noticed, not even one that was started since; all may read", async () => {
    const prefix = fixture.prefix();
    const [owner, bystander] = [fixture.open({ prefix }), fixture.open({ prefix })];
    await fill(owner.log, 3);
    await bystander.probe();
    const kept = backup();
    await owner.log.append(ref, batch(3, "lost"));
    await bystander.probe();
    await kept.restore();
    await expect(soon(() => bystander.log.claim(ref, claim))).rejects.toMatchObject(refused);
    const fresh = fixture.open({ prefix });
    for (const store of [owner, bystander, fresh]) {
      await expect(soon(() => store.probe())).rejects.toMatchObject(refused);
      await expect(store.log.claim(ref, claim)).rejects.toMatchObject(refused);
      await expect(store.log.append({ scope: "local", session: "other" }, batch(0))).rejects.toMatchObject(refused);
    }
    expect(await fresh.log.read(ref)).toHaveLength(3);
    await expect(owner.log.read(ref)).rejects.toMatchObject({ code: "HISTORY_LOST" });
  });

  it("is used again, by every process, once a person has accepted it", async () => {
    const prefix = fixture.prefix();
    const [owner, doctor] = [fixture.open({ prefix }), fixture.open({ prefix })];
    await fill(owner.log, 3);
    await owner.probe();
    expect(await doctor.acceptRestored()).toBe(false);
    const kept = backup();
    await owner.log.append(ref, batch(3, "lost"));
    await owner.probe();
    await kept.restore();
    await expect(soon(() => owner.probe())).rejects.toMatchObject(refused);
    expect(await soon(() => doctor.acceptRestored())).toBe(true);
    await owner.probe();
    expect(await owner.log.read(ref)).toHaveLength(3);
    expect(await owner.log.claim(ref, claim)).toMatchObject({ type: "claimed" });
    expect(await owner.log.append(ref, batch(3, "new"))).toEqual({ type: "ok", lastSeq: 4 });
    // The backup of before is older than the acceptance, too.
    await kept.restore();
    await expect(soon(() => owner.probe())).rejects.toMatchObject(refused);
  });

  it("is noticed by a process that was started anew and kept its marks in a file; what was flushed too", async () => {
    const prefix = fixture.prefix();
    const marksFile = join(freshFolder(), "state", "marks.json");
    const before = fixture.open({ prefix, marksFile });
    await fill(before.log, 2);
    const kept = backup();
    await before.probe();
    await before.close();
    expect(existsSync(marksFile)).toBe(true);
    await kept.restore();
    await expect(soon(() => fixture.open({ prefix, marksFile }).log.claim(ref, claim))).rejects.toMatchObject(refused);
    await fixture.redis.command("FLUSHALL");
    await expect(fixture.open({ prefix, marksFile }).log.claim(ref, claim)).rejects.toMatchObject(refused);
  });

  it("keeps a process waiting that knows nothing of older data, until those that may know have had their time", async () => {
    const prefix = fixture.prefix();
    const before = fixture.open({ prefix });
    await fill(before.log, 2);
    await before.probe();
    // The data is older than the life of Redis by more than the second that Redis counts in.
    await fixture.redis.command("HSET", `${prefix}:{store}`, "born", String(Date.now() - 60_000));
    await fixture.redis.restart();
    await expect(soon(() => fixture.open({ prefix }).log.head(ref))).resolves.toMatchObject({ lastSeq: 2 });
    await expect(fixture.open({ prefix }).log.claim(ref, claim)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await soon(() => before.log.claim(ref, claim))).toMatchObject({ type: "claimed" });
  });

  it("with `durability: none` may go back: that was accepted", async () => {
    const prefix = fixture.prefix();
    const store = fixture.open({ prefix, durability: "none" });
    await store.probe();
    await fixture.redis.command("FLUSHALL");
    await store.probe();
    expect(await store.log.claim(ref, claim)).toMatchObject({ type: "claimed" });
  });

  it("starts no tool of the class `once` again that ran after the backup", async () => {
    const prefix = fixture.prefix();
    let starts = 0;
    const tool = defineTool({ name: "pay", description: "Pays.", parameters: { type: "object" }, execute: () => `paid ${++starts}` });
    const script = [{ calls: [{ name: "pay", args: {} }] }, { text: "Done." }];
    const agent = createAgent({ name: "helper", provider: scripted([...script, ...script]), tools: [tool] });
    const handle = (store: SessionStore, drives: boolean) => createSession({ agent, id: "first", store, drives, logger: { log() {} } });
    const [taker, worker, other] = [fixture.open({ prefix }), fixture.open({ prefix }), fixture.open({ prefix })];
    await handle(taker, false).submit("Pay.");
    await other.probe();
    const kept = backup();
    const ran = handle(worker, true);
    await new Promise<void>((resolve) => {
      ran.follow({ events() {}, rested: () => (starts > 0 ? resolve() : undefined), lost: () => {} });
    });
    await other.probe();
    await ran[Symbol.asyncDispose]();
    expect(starts).toBe(1);
    await kept.restore();
    await soon(() => other.log.read(ref));
    const lost = await new Promise<AgentError>((resolve) => {
      handle(other, true).follow({ events() {}, rested() {}, lost: resolve });
    });
    expect(lost.code).toBe("STORE_ROLLED_BACK");
    expect(starts).toBe(1);
  });
});
