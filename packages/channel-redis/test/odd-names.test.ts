import { expect, it, onTestFinished } from "vitest";
import { redisChannel } from "../src/index.ts";
import { topicName } from "../src/topic-name.ts";
import { describeWithRedis } from "./redis-suite.ts";

const scopes = ["a", "a:b", "a}{b", "{a}", "*", "?", "[a-z]", "a*", "\r\nFLUSHALL\r\n", "a\u0000", "A", "~61", "é", "a".repeat(10_240)];

describeWithRedis("T05: odd names of scopes in the topics of a channel", (redis) => {
  it("lead to a topic of their own for each, and no topic has a character that Redis reads as a pattern or a command", () => {
    const topics = scopes.map((scope) => topicName("test", scope));
    expect(new Set(topics).size).toBe(scopes.length);
    for (const topic of topics) expect(topic).toMatch(/^test:events:[\w~-]+$/);
  });

  it("give each listener what is sent to its own scope alone, by subscriptions without a pattern", async () => {
    await redis().command("CONFIG", "RESETSTAT");
    const [listening, sending] = [0, 1].map(() => redisChannel({ url: redis().url, prefix: "odd" }));
    if (!listening || !sending) throw new Error("There are two.");
    onTestFinished(async () => {
      await Promise.all([listening.close(), sending.close()]);
    });
    const received = new Map<string, string[]>(scopes.map((scope) => [scope, []]));
    for (const scope of scopes)
      listening.subscribeScope(scope, { notification: ({ data }) => void received.get(scope)?.push(String(data)) });
    // A subscription takes its time: what was sent before it is not received.
    const isReceived = (): boolean => {
      for (const scope of scopes) sending.notify(scope, { type: "job_progress", data: scope });
      return [...received.values()].every((texts) => texts.length > 0);
    };
    await expect.poll(isReceived, { timeout: 60_000, interval: 100 }).toBe(true);
    for (const [scope, texts] of received) expect([...new Set(texts)]).toEqual([scope]);
    const stats = await redis().command("INFO", "commandstats");
    expect(stats).toMatch(/cmdstat_s?subscribe/);
    expect([...stats.matchAll(/cmdstat_(keys|scan|psubscribe|flushall|flushdb)\b/g)].map(([, name]) => name)).toEqual([]);
  });
});
