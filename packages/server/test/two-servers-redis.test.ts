import { createAgent } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import type { ModelProvider } from "@loopwright/core/ports";
import { type RedisProcess, redisMissing, startRedis } from "@loopwright/simulator/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dataOf, post, serveOverRedis } from "./redis-scene.ts";

const missing = redisMissing();
if (missing) console.info(`Skipped: two servers over a channel of Redis: ${missing}.`);

interface Notified {
  readonly type: string;
  readonly role?: string;
  readonly seq?: number;
  readonly k?: number;
  readonly lane?: number;
  readonly n?: number;
  readonly delta?: string;
  /** Of a snapshot: everything that was sent before. */
  readonly content?: readonly { readonly text: string }[];
}

/** What an event adds to the answer. */
const textOf = ({ type, delta = "", content = [] }: Notified): string =>
  type === "message_snapshot" ? content.map(({ text }) => text).join("") : type === "text_delta" ? delta : "";

describe.skipIf(missing !== undefined)("two servers over a channel of Redis", () => {
  let redis: RedisProcess;
  beforeAll(async () => {
    redis = await startRedis({ args: ["--appendonly", "no"] });
  });
  afterAll(() => redis.stop());

  it("A15 a reader of the one sees a run of the other while it is written, each event once and in order", async () => {
    const words = Array.from({ length: 40 }, (_, count) => `word ${count}, `);
    // Each word is sent when the reader of the other server has the one before: nothing of it can come from the log.
    const received = words.map(() => Promise.withResolvers<void>());
    const begun = Promise.withResolvers<void>();
    const provider: ModelProvider = {
      name: "patient",
      defaultModel: "patient-1",
      capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
      async *stream() {
        await begun.promise;
        for (const [at, delta] of words.entries()) {
          yield [{ type: "text", index: 0, delta }];
          await received[at]?.promise;
        }
        yield [{ type: "end", stopReason: "stop", raw: "stop" }];
      },
    };
    const shared = { agents: [createAgent({ name: "helper", provider })], store: memoryStore(), isOneOfMany: true };
    const a = await serveOverRedis(redis.url, shared);
    // It runs nothing itself: what it reports comes from the log and over the channel.
    const b = await serveOverRedis(redis.url, { ...shared, role: "server" });
    expect((await post(`${a.url}/api/sessions`, { id: "s" })).status).toBe(201);
    const events: Notified[] = [];
    let written = "";
    const stream = dataOf<Notified>(await fetch(`${b.url}/api/sessions/s/events?after=`));
    expect((await post(`${a.url}/api/sessions/s/messages`, { input: "Go" })).status).toBe(202);
    for await (const event of stream) {
      events.push(event);
      if (event.type === "message_start" && event.role === "assistant") begun.resolve();
      written += textOf(event);
      for (const each of received.slice(0, written.split(", ").length - 1)) each.resolve();
      if (event.type === "run_end") break;
    }
    const places = events.flatMap(({ seq, k }) => (seq === undefined ? [] : [seq * 1_000 + (k ?? 0)]));
    expect(places).toEqual([...new Set(places)].sort((one, other) => one - other));
    expect(
      events.filter(({ type }) => type === "input_accepted" || type === "message_end" || type === "run_end").map(({ type }) => type),
    ).toEqual(["input_accepted", "message_end", "message_end", "run_end"]);
    expect(written).toBe(words.join(""));
    // A reader whose subscription stands after the first word was sent gets that as a snapshot, and every later one as it is sent.
    const [first, ...later] = events.filter(({ type }) => type === "message_snapshot" || type === "text_delta");
    expect(later.map(({ type, n }) => [type, n])).toEqual(later.map((_, at) => ["text_delta", (first?.n ?? 0) + 1 + at]));
  });
});
