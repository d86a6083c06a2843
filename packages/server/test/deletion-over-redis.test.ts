import { createAgent } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";
import type { AgentEvent } from "@loopwright/core/protocol";
import { type RedisProcess, redisMissing, startRedis } from "@loopwright/simulator/node";
import { redisStore } from "@loopwright/store-redis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { dataOf, post, serveOverRedis } from "./redis-scene.ts";

const missing = redisMissing();
if (missing) console.info(`Skipped: deletions over a store and a channel of Redis: ${missing}.`);

type Notified = AgentEvent & { readonly sessionId?: string };

/** Emits a few words and then nothing until it is stopped. */
const patient: ModelProvider = {
  name: "patient",
  defaultModel: "patient-1",
  capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
  async *stream(_, { signal }) {
    yield [{ type: "text", index: 0, delta: "Once upon a time" }];
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    signal.throwIfAborted();
  },
};

/** A stream that is read as it comes. */
function watch(response: Response) {
  const events: Notified[] = [];
  const written = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const ended = (async () => {
    for await (const event of dataOf<Notified>(response)) {
      events.push(event);
      if (event.type === "text_delta" || event.type === "message_snapshot") written.resolve();
      if (event.type === "session_closed") closed.resolve();
    }
  })();
  // A stream of many sessions is cut by the test at its end.
  ended.catch(() => {});
  return { events, written: written.promise, closed: closed.promise, ended };
}

/** The order of the whole stream: places grow, nothing is sent of an answer that is over, and what must be closed is closed. */
function expectGrammar(events: readonly Notified[]): void {
  const places = events.flatMap((event) => ("seq" in event ? [event.seq * 1_000 + event.k] : []));
  expect(places).toEqual([...new Set(places)].sort((one, other) => one - other));
  const end = events.findIndex(({ type }) => type === "run_end");
  expect(end).toBeGreaterThan(0);
  expect(events.slice(end).filter((event) => "lane" in event)).toEqual([]);
  expect(events.slice(0, end).filter(({ type }) => type === "error")).toHaveLength(1);
  const started = events.filter((event) => event.type === "message_start").length;
  expect(events.filter((event) => event.type === "message_end")).toHaveLength(started);
}

const typesFrom = (events: readonly Notified[], type: string): readonly string[] => {
  const types = events.map((event) => event.type);
  return types.slice(types.indexOf(type as Notified["type"]));
};

describe.skipIf(missing !== undefined)("a session that is deleted under its run", () => {
  let redis: RedisProcess;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  it.each(["server", "all"] as const)(
    "P3 ends each stream of both servers with its last frames, when the other server (%s) is asked",
    async (role) => {
      const serve = async (as: "all" | "server") => {
        const store = redisStore({ url: redis.url, prefix: `deleted-${role}`, deadlineMs: 20_000 });
        onTestFinished(() => store.close?.());
        const agents = [createAgent({ name: "helper", provider: patient })];
        return (await serveOverRedis(redis.url, { agents, store, isOneOfMany: true, role: as })).url;
      };
      const [a, b] = [await serve("all"), await serve(role)];
      const stop = new AbortController();
      onTestFinished(() => stop.abort());
      const get = async (url: string) => watch(await fetch(url, { signal: stop.signal }));
      expect((await post(`${a}/api/sessions`, { id: "s" })).status).toBe(201);
      const execution = watch(await post(`${a}/api/agent/execute`, { sessionId: "s", agent: "helper", input: "A story" }));
      await execution.written;
      const events = await Promise.all(
        [a, b].flatMap((url) => ["", "?after=", "?from=now"].map((query) => get(`${url}/api/sessions/s/events${query}`))),
      );
      const notifications = await Promise.all([a, b].map((url) => get(`${url}/api/notifications?session=s`)));
      await Promise.all([...events, ...notifications].map(({ written }) => written));

      expect((await fetch(`${b}/api/sessions/s`, { method: "DELETE" })).status).toBe(204);

      await execution.ended;
      expectGrammar(execution.events);
      expect(typesFrom(execution.events, "error")).toEqual(["error", "run_end", "session_end", "execute_complete"]);
      expect(execution.events.at(-1)).toMatchObject({ type: "execute_complete", status: "aborted" });
      for (const [at, stream] of events.entries()) {
        await stream.ended;
        const isFresh = at % 3 === 2;
        const name = `${at < 3 ? "a" : "b"} ${["", "after", "from=now"][at % 3]}`;
        if (!isFresh) expectGrammar(stream.events);
        const last = typesFrom(stream.events, "error").filter((type) => type !== "rest");
        // A reader that does not wait is let go with the rest after the run, when that is published before the end of the session.
        const short = at % 3 === 0 && last.length === 2;
        expect(last, name).toEqual(short ? ["error", "run_end"] : ["error", "run_end", "session_closed"]);
        expect(stream.events.at(-1)?.type, name).toBe("rest");
      }
      for (const { events: notified, closed } of notifications) {
        await closed;
        const own = notified.filter(({ sessionId, type }) => sessionId === "s" && type !== ("session_hint" as string));
        expect(typesFrom(own, "error")).toEqual(["error", "run_end", "session_closed"]);
      }
      for (const url of [a, b]) expect((await fetch(`${url}/api/sessions/s`)).status).toBe(404);
    },
    60_000,
  );
});
