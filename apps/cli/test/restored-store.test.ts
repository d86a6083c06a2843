import { redisMissing, startRedis } from "@loopwright/simulator/node";
import { redisStore } from "@loopwright/store-redis";
import { expect, it, onTestFinished } from "vitest";
import { checkStore } from "../src/commands/check-store.ts";

it.skipIf(redisMissing() !== undefined)(
  "doctor reports that a Redis went back to an older state, and accepts that state on request",
  async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const settings = { store: { kind: "redis", url: redis.url }, environment: {} } as const;
    const node = redisStore({ url: redis.url });
    onTestFinished(() => node.close());
    await node.probe();
    expect(await checkStore(settings, { acceptsRestored: true })).toMatchObject({
      state: "ok",
      text: expect.not.stringContaining("older state"),
    });
    await redis.command("FLUSHALL");
    await expect(node.probe()).rejects.toMatchObject({ code: "STORE_ROLLED_BACK" });
    const found = await checkStore(settings);
    expect(found).toMatchObject({ state: "bad", text: expect.stringContaining("--accept-restored") });
    expect(await checkStore(settings, { acceptsRestored: true })).toMatchObject({
      state: "ok",
      text: expect.stringContaining("as it is from now on"),
    });
    await node.probe();
  },
);
