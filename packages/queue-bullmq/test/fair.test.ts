import { createClient } from "@redis/client";
import { expect, it, onTestFinished } from "vitest";
import { bullQueue } from "../src/index.ts";
import { queueLimits } from "../src/queue-limits.ts";
import { describeWithRedis } from "./redis-suite.ts";

describeWithRedis("a backlog in BullMQ is fair between scopes", (redis) => {
  let tests = 0;
  const open = () => {
    const prefix = `fair-${tests++}`;
    const queue = bullQueue({ url: redis().url, prefix, deadlineMs: 20_000 });
    onTestFinished(() => queue.close());
    return { prefix, queue };
  };
  const connected = async () => {
    const client = await createClient({ url: redis().url }).connect();
    onTestFinished(() => client.destroy());
    return client;
  };
  /** Takes hints one by one until so many are there. */
  const takes = async (queue: ReturnType<typeof bullQueue>, count: number): Promise<readonly string[]> => {
    const taken: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const take = async ({ scope, session }: { readonly scope: string; readonly session: string }): Promise<void> => {
      if (taken.push(`${scope}/${session}`) === count) resolve();
    };
    const worker = queue.work(take, { concurrency: 1 });
    await promise;
    await worker.stop();
    return taken.slice(0, count);
  };
  const offerMany = async (queue: ReturnType<typeof bullQueue>, scope: string, count: number): Promise<void> => {
    for (let sent = 0; sent < count; sent += 100)
      await Promise.all(Array.from({ length: Math.min(100, count - sent) }, (_, at) => queue.offer({ scope, session: `s${sent + at}` })));
  };

  it("ten sessions behind a thousand of another scope are among the first twenty", async () => {
    const { queue } = open();
    await offerMany(queue, "busy", 1_000);
    await offerMany(queue, "quiet", 10);
    const taken = await takes(queue, 20);
    expect(taken.filter((key) => key.startsWith("quiet/"))).toHaveLength(10);
  });

  it("a hint that is merged with one that waits costs its scope no turn", async () => {
    const { queue } = open();
    for (let times = 0; times < 20; times++) await queue.offer({ scope: "often", session: "one" });
    await offerMany(queue, "busy", 10);
    await queue.offer({ scope: "often", session: "two" });
    expect((await takes(queue, 4)).toSorted()).toEqual(["busy/s0", "busy/s1", "often/one", "often/two"]);
  });

  it("a scope pays nothing for a backlog that it had earlier", async () => {
    const { queue } = open();
    await offerMany(queue, "busy", 200);
    await takes(queue, 200);
    await offerMany(queue, "quiet", 5);
    await queue.offer({ scope: "busy", session: "again" });
    expect((await takes(queue, 2)).toSorted()).toEqual(["busy/again", "quiet/s0"]);
  });

  it("beyond the highest turn hints are delivered in the order of their offers, and none is lost", async () => {
    const { prefix, queue } = open();
    const client = await connected();
    await queue.offer({ scope: "busy", session: "first" });
    await client.hSet(`${prefix}:queue:runs:turns`, "busy", String(queueLimits.turnMax - 1));
    await offerMany(queue, "busy", 4);
    await client.zPopMin(`${prefix}:queue:runs:prioritized`);
    await queue.offer({ scope: "quiet", session: "one" });
    await queue.offer({ scope: "busy", session: "last" });
    const taken = await takes(queue, 6);
    expect(taken).toEqual(["busy/s0", "busy/s1", "busy/s2", "busy/s3", "quiet/one", "busy/last"]);
  });

  it("turns start again at one when no hint waits and half of them are used", async () => {
    const { prefix, queue } = open();
    const client = await connected();
    await client.set(`${prefix}:queue:runs:turns:top`, String(queueLimits.turnMax));
    await queue.offer({ scope: "busy", session: "one" });
    expect(await client.zRangeWithScores(`${prefix}:queue:runs:prioritized`, 0, -1)).toMatchObject([{ score: 2 ** 32 + 1 }]);
    expect(await client.get(`${prefix}:queue:runs:turns:top`)).toBe("1");
  });

  it("keeps the turns of a bounded number of scopes", async () => {
    const { prefix, queue } = open();
    const client = await connected();
    const turns = `${prefix}:queue:runs:turns`;
    await offerMany(queue, "busy", 3);
    const fields = Object.fromEntries(Array.from({ length: queueLimits.scopesMax + 1 }, (_, at) => [`t${at}`, "1"]));
    await client.hSet(turns, fields);
    await queue.offer({ scope: "quiet", session: "one" });
    expect(await client.hLen(turns)).toBe(1);
    expect(await client.pTTL(turns)).toBeGreaterThan(0);
  });
});
