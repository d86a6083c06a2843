import { type RedisProcess, redisMissing, startRedis } from "@loopwright/simulator/node";
import { afterAll, beforeAll, describe } from "vitest";

/** A suite with a Redis of its own; skipped, with the reason, where none can be started. */
export function describeWithRedis(title: string, body: (redis: () => RedisProcess) => void): void {
  const missing = redisMissing();
  if (missing) console.info(`Skipped: ${title}: ${missing}.`);
  describe.skipIf(missing !== undefined)(title, () => {
    let redis: RedisProcess | undefined;
    beforeAll(async () => {
      redis = await startRedis({ args: ["--appendonly", "no"] });
    });
    afterAll(() => redis?.stop());
    body(() => {
      if (!redis) throw new Error("There is no Redis before the suite has begun.");
      return redis;
    });
  });
}
