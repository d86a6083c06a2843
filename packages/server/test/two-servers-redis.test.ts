import { redisChannel } from "@loopwright/channel-redis";
import { createAgent } from "@loopwright/core";
import { memoryStore, silentLogger } from "@loopwright/core/memory";
import type { ModelProvider } from "@loopwright/core/ports";
import { createServer, type ServerOptions } from "@loopwright/server";
import { type Listening, listen } from "@loopwright/server/node";
import { type RedisProcess, redisMissing, startRedis } from "@loopwright/simulator/node";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

const missing = redisMissing();
if (missing) console.info(`Skipped: two servers over a channel of Redis: ${missing}.`);

interface Told {
  readonly type: string;
  readonly role?: string;
  readonly seq?: number;
  readonly k?: number;
  readonly lane?: number;
  readonly n?: number;
  readonly delta?: string;
}

/** The events of a stream, until one of this type. */
async function* eventsOf(response: Response): AsyncGenerator<Told, void> {
  let text = "";
  for await (const piece of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += piece;
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const [, data] = /^data: (.*)$/m.exec(frame) ?? [];
      if (data !== undefined) yield JSON.parse(data);
    }
  }
}

describe.skipIf(missing !== undefined)("two servers over a channel of Redis", () => {
  let redis: RedisProcess;
  beforeAll(async () => {
    redis = await startRedis({ args: ["--appendonly", "no"] });
  });
  afterAll(() => redis.stop());

  async function serve(options: Omit<ServerOptions, "channel" | "logger">): Promise<Listening> {
    const channel = redisChannel({ url: redis.url });
    const server = createServer({ ...options, channel, logger: silentLogger });
    const listening = await listen(server);
    onTestFinished(async () => {
      await server.close();
      await listening.close();
      await channel.close();
    });
    return listening;
  }

  it("A15 a reader of the one sees a run of the other as it is said, each event once and in order", async () => {
    const words = Array.from({ length: 40 }, (_, count) => `word ${count}, `);
    // Each word is said when the reader of the other server has the one before: nothing of it can come from the log.
    const heard = words.map(() => Promise.withResolvers<void>());
    const begun = Promise.withResolvers<void>();
    const provider: ModelProvider = {
      name: "patient",
      defaultModel: "patient-1",
      capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
      async *stream() {
        await begun.promise;
        for (const [at, delta] of words.entries()) {
          yield [{ type: "text", index: 0, delta }];
          await heard[at]?.promise;
        }
        yield [{ type: "end", stopReason: "stop", raw: "stop" }];
      },
    };
    const shared = { agents: [createAgent({ name: "helper", provider })], store: memoryStore(), isOneOfMany: true };
    const a = await serve(shared);
    // It runs nothing itself: what it tells comes from the log and over the channel.
    const b = await serve({ ...shared, role: "server" });
    const post = (path: string, body: object): Promise<Response> =>
      fetch(`${a.url}${path}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    expect((await post("api/sessions", { id: "s" })).status).toBe(201);
    const events: Told[] = [];
    let spoken = 0;
    const stream = eventsOf(await fetch(`${b.url}api/sessions/s/events?after=`));
    expect((await post("api/sessions/s/messages", { input: "Go" })).status).toBe(202);
    for await (const event of stream) {
      events.push(event);
      if (event.type === "message_start" && event.role === "assistant") begun.resolve();
      if (event.type === "text_delta") heard[spoken++]?.resolve();
      if (event.type === "run_end") break;
    }
    const places = events.flatMap(({ seq, k }) => (seq === undefined ? [] : [seq * 1_000 + (k ?? 0)]));
    expect(places).toEqual([...new Set(places)].sort((one, other) => one - other));
    expect(
      events.filter(({ type }) => type === "input_accepted" || type === "message_end" || type === "run_end").map(({ type }) => type),
    ).toEqual(["input_accepted", "message_end", "message_end", "run_end"]);
    const deltas = events.filter(({ type }) => type === "text_delta");
    expect(deltas).toHaveLength(words.length);
    expect(deltas.map(({ n }) => n)).toEqual(deltas.map((_, at) => (deltas[0]?.n ?? 0) + at));
    expect(deltas.map(({ delta }) => delta).join("")).toBe(words.join(""));
  });
});
