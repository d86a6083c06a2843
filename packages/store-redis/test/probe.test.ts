import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRedis } from "@loopwright/simulator/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { redisStore } from "../src/index.ts";
import { missing, redisFixture } from "./redis-fixture.ts";
import { batch, ref } from "./samples.ts";

const fixture = redisFixture();

describe.skipIf(missing !== undefined)("a look at a running Redis", () => {
  it("finds nothing wrong with one that is as it should be", async () => {
    await expect(fixture.open().probe()).resolves.toBeUndefined();
  });

  it.each([
    ["may throw sessions away since an operator changed its policy", "maxmemory-policy", "allkeys-lru", "noeviction", "CONFIG_INVALID"],
    ["keeps no append-only file any more", "appendonly", "no", "yes", "CONFIG_INVALID"],
    ["has no memory left", "maxmemory", "1", "0", "STORE_FULL"],
  ])("finds one that %s, and finds it mended", async (_, name, wrong, right, code) => {
    const store = fixture.open();
    await store.log.append(ref, batch(0));
    await fixture.redis.command("CONFIG", "SET", name, wrong);
    await expect(store.probe()).rejects.toMatchObject({ code });
    await fixture.redis.command("CONFIG", "SET", name, right);
    await expect(store.probe()).resolves.toBeUndefined();
  });

  it("finds one that refuses writes since its disk does not take its data, though it can be read", async () => {
    const dir = mkdtempSync(join(tmpdir(), "loopwright-misconf-"));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    // The snapshot cannot be put in the place of a folder that holds something.
    mkdirSync(join(dir, "taken"));
    writeFileSync(join(dir, "taken", "file"), "");
    const redis = await startRedis({ dir, args: ["--save", "3600 1", "--dbfilename", "taken"] });
    onTestFinished(() => redis.stop());
    const store = redisStore({ url: redis.url });
    onTestFinished(() => store.close());
    await store.log.append(ref, batch(0));
    await redis.command("BGSAVE");
    await expect.poll(() => redis.command("INFO", "persistence")).toContain("rdb_last_bgsave_status:err");
    expect(await store.log.head(ref)).toMatchObject({ lastSeq: 1 });
    await expect(store.probe()).rejects.toMatchObject({ code: "STORE_READ_ONLY" });
    await redis.command("CONFIG", "SET", "save", "");
    await redis.command("CONFIG", "SET", "stop-writes-on-bgsave-error", "no");
    await expect(store.probe()).resolves.toBeUndefined();
  });
});
