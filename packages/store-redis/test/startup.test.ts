import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Logger } from "@loopwright/core/ports";
import { startRedis } from "@loopwright/simulator/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { redisStore } from "../src/index.ts";
import { missing, redisFixture } from "./redis-fixture.ts";
import { batch, patiently, ref } from "./samples.ts";

const fixture = redisFixture();

describe("the options of the store", () => {
  for (const [what, options] of [
    ["no address", {}],
    ["an address of something else", { url: "https://user:hush-hush@example.com" }],
    ["an address that is none", { url: "redis://:hush-hush@host:port:1" }],
    ["a prefix with a brace", { url: "redis://localhost", prefix: "a{b" }],
    ["a prefix with a pattern", { url: "redis://localhost", prefix: "a*" }],
  ] as const)
    it(`with ${what} are CONFIG_INVALID, without saying a secret`, () => {
      let error: unknown;
      try {
        redisStore(options);
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toMatchObject({ code: "CONFIG_INVALID" });
      expect(JSON.stringify(error) + String(error)).not.toContain("hush");
    });
});

describe.skipIf(missing !== undefined)("a Redis that may not hold sessions is refused", () => {
  for (const [what, set, reset] of [
    ["that evicts", ["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"], ["CONFIG", "SET", "maxmemory-policy", "noeviction"]],
    ["without an append-only file", ["CONFIG", "SET", "appendonly", "no"], ["CONFIG", "SET", "appendonly", "yes"]],
    ["that is a replica", ["REPLICAOF", "127.0.0.1", "1"], ["REPLICAOF", "NO", "ONE"]],
  ] as const)
    it(`one ${what}: CONFIG_INVALID with what to do, and taken once it is set right`, async () => {
      await fixture.redis.command(...set);
      onTestFinished(async () => void (await fixture.redis.command(...reset)));
      const store = fixture.open();
      for (const call of [store.log.head(ref), store.log.append(ref, batch(0)), store.index.list("local")])
        await expect(call).rejects.toMatchObject({ code: "CONFIG_INVALID", fix: expect.stringMatching(/\w{4}/) });
      await fixture.redis.command(...reset);
      expect((await patiently(() => store.log.append(ref, batch(0)))).type).toBe("ok");
    });

  it("one that is a node of a cluster", async () => {
    const redis = await startRedis({ args: ["--cluster-enabled", "yes"] });
    onTestFinished(() => redis.stop());
    await expect(fixture.open({ url: redis.url }).log.head(ref)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("cluster"),
    });
  });

  it("but one without an append-only file is taken where the loss was accepted", async () => {
    await fixture.redis.command("CONFIG", "SET", "appendonly", "no");
    onTestFinished(async () => void (await fixture.redis.command("CONFIG", "SET", "appendonly", "yes")));
    expect((await fixture.open({ durability: "none" }).log.append(ref, batch(0))).type).toBe("ok");
  });

  it("and one that does not show its settings is used, with one log line for the operator", async () => {
    const user = ["~*", "&*", "+@all", "-info", ">secret"];
    await fixture.redis.command("ACL", "SETUSER", "careful", "on", ...user);
    const written: string[] = [];
    const logger: Logger = {
      log: (level, message, fields) => void written.push(`${level} ${message} ${JSON.stringify(fields?.["unchecked"])}`),
    };
    const store = fixture.open({ url: `redis://careful:secret@127.0.0.1:${fixture.redis.port}`, logger });
    expect((await store.log.append(ref, batch(0))).type).toBe("ok");
    await fixture.redis.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await patiently(() => store.log.head(ref));
    expect(written).toEqual([expect.stringMatching(/^warn .*\["maxmemory_policy","role","aof_enabled"\]$/)]);
  });

  it("and one that does not allow what the store needs is refused with the name of the command", async () => {
    await fixture.redis.command("ACL", "SETUSER", "poor", "on", "~*", "&*", "+@all", "-eval", "-evalsha", ">secret");
    const store = fixture.open({ url: `redis://poor:secret@127.0.0.1:${fixture.redis.port}` });
    await expect(store.log.append(ref, batch(0))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      retryable: false,
      message: expect.stringContaining("does not allow"),
    });
  });

  it("and a user with only the rights in the README is enough for everything", async () => {
    const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
    const [rule = ""] = /^ACL SETUSER .*$/m.exec(readme) ?? [];
    await fixture.redis.command(...rule.split(" "));
    const store = fixture.open({ url: `redis://loopwright:password@127.0.0.1:${fixture.redis.port}`, prefix: "loopwright" });
    const notified: number[] = [];
    store.log.subscribe?.(ref, (lastSeq) => notified.push(lastSeq));
    const { epoch } = { epoch: 0, ...(await store.log.claim(ref, { node: "n", leaseMs: 1_000 })) };
    expect(await store.log.renew(ref, { epoch, leaseMs: 1_000 })).toBe(true);
    expect(await store.log.append(ref, batch(0, "words", { epoch, due: 1 }))).toEqual({ type: "ok", lastSeq: 1 });
    await store.log.release(ref, epoch);
    await store.log.setDue(ref, { expectedSeq: 1, due: 2 });
    expect(await store.log.due({ now: 5, after: { ref: { scope: "a", session: "a" }, due: 1 } })).toEqual([{ ref, due: 2 }]);
    expect((await store.index.list("local", { before: { updatedAt: 9, id: "z" } })).map(({ id }) => id)).toEqual(["first"]);
    expect(await store.index.search("local", "words")).toHaveLength(1);
    expect(await store.index.rebuild("local")).toBe(1);
    await store.snapshots.put(ref, "name", { a: 1 });
    expect(await store.snapshots.get(ref, "name")).toEqual({ a: 1 });
    await store.snapshots.remove(ref, "name");
    expect(await store.blobs.put("local", "key", { bytes: Uint8Array.of(1), mediaType: "a/b" })).toBe(true);
    expect(await store.blobs.list("local")).toEqual(["key"]);
    expect(await store.blobs.get("local", "key")).toEqual({ bytes: Uint8Array.of(1), mediaType: "a/b" });
    expect(await store.blobs.remove("local", "key")).toBe(true);
    expect(await store.check()).toMatchObject({ sessionCount: 1, factCount: 1, damaged: [] });
    await expect.poll(() => notified).toContain(1);
    await store.blobs.put("local", "upload", { bytes: Uint8Array.of(1) });
    expect(await store.blobs.own("local", "upload", ref.session)).toBe(true);
    expect(await store.blobs.own("local", "upload", "other")).toBe(true);
    await store.log.remove(ref);
    expect(await store.blobs.remove("local", "upload")).toBe(true);
    expect(await store.log.head(ref)).toEqual({ lastSeq: 0, epoch });
    const ledger = store.ledger({ limits: { all: { tokens: 10 } } });
    const asked = { accounts: ["all"], ask: { tokens: 10 }, expiresAt: Date.now() + 60_000 };
    expect(await ledger.reserve({ ...asked, id: "one" })).toEqual({ type: "reserved" });
    await ledger.release("one");
    expect(await ledger.reserve({ ...asked, id: "two" })).toEqual({ type: "reserved" });
    await ledger.settle("two", { tokens: 1, source: "reported" });
  });

  it("and one that allows no subscription is polled instead", async () => {
    await fixture.redis.command("ACL", "SETUSER", "deaf", "on", "~*", "&*", "+@all", "-subscribe", ">secret");
    const prefix = fixture.prefix();
    const store = fixture.open({ url: `redis://deaf:secret@127.0.0.1:${fixture.redis.port}`, prefix });
    const notified: number[] = [];
    store.log.subscribe?.(ref, (lastSeq) => notified.push(lastSeq));
    for (let seq = 0; seq < 3; seq++) {
      await fixture.open({ prefix }).log.append(ref, batch(seq));
      await expect.poll(() => notified).toContain(seq + 1);
    }
  });

  it("and one whose keys are another program's is STORE_CORRUPT", async () => {
    const prefix = fixture.prefix();
    await fixture.redis.command("SET", `${prefix}:{due}`, "theirs");
    await expect(fixture.open({ prefix }).log.append(ref, { ...batch(0), due: 1 })).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  });
});

describe.skipIf(missing !== undefined)("an idle store", () => {
  it("does not keep the process alive, not even one that listens", async () => {
    const file = fileURLToPath(new URL("idle-child.ts", import.meta.url));
    const child = spawn(process.execPath, ["--conditions=@loopwright/source", file, fixture.redis.url], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let written = "";
    child.stdout.on("data", (chunk) => {
      written += String(chunk);
    });
    expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(0);
    expect(written).toBe("told 1\n");
  });
});
