import { existsSync } from "node:fs";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RedisProcess, redisMissing, startRedis } from "./redis-process.ts";

const missing = redisMissing();
if (missing) console.info(`Skipped: ${missing}.`);

describe.skipIf(missing !== undefined)("a redis-server of one's own", () => {
  let redis: RedisProcess;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  it("answers, and never evicts", async () => {
    expect(await redis.command("PING")).toBe("+PONG");
    expect(await redis.command("CONFIG", "GET", "maxmemory-policy")).toContain("noeviction");
    await expect(redis.command("NONSENSE")).rejects.toThrow(/unknown command/i);
  });

  it("keeps what was synced over a kill and a restart, on the same port", async () => {
    await redis.restart({ args: ["--appendfsync", "always"] });
    await redis.command("SET", "key", "kept");
    const { port, pid } = redis;
    await redis.kill();
    expect(redis.pid).toBeUndefined();
    await expect(redis.command("PING")).rejects.toThrow(/ECONNREFUSED/);
    await redis.restart();
    expect(redis.port).toBe(port);
    expect(redis.pid).not.toBe(pid);
    expect(await redis.command("GET", "key")).toContain("kept");
  });

  it("answers nothing while it is paused, and then all of it", async () => {
    const socket = connect(redis.port, redis.host);
    await new Promise((resolve) => socket.once("connect", resolve));
    redis.pause();
    const answered = new Promise((resolve) => socket.once("data", resolve));
    socket.write("PING\r\n");
    const other = connect(redis.port, redis.host);
    // The kernel takes connections for a paused process; only its answers are missing.
    await new Promise((resolve) => other.once("connect", resolve));
    expect(socket.bytesRead).toBe(0);
    redis.resume();
    expect(String(await answered)).toBe("+PONG\r\n");
    socket.destroy();
    other.destroy();
  });

  it("gives the reason why it did not start", async () => {
    await expect(startRedis({ args: ["--nonsense", "1"] })).rejects.toThrow(/ended at its start.*nonsense/i);
  });

  it("is gone with its folder after `stop`, twice is once", async () => {
    const own = await startRedis();
    await own.stop();
    await own.stop();
    expect(existsSync(own.dir)).toBe(false);
    expect(own.pid).toBeUndefined();
  });
});
