import { createClient } from "@loopwright/client";
import { createAgent, defineTool, type ModelChunk } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";
import { type AgentEvent, type AssistantPart, textOf } from "@loopwright/core/protocol";
import type { DialectFrame, StreamDialect } from "@loopwright/server";
import { type RedisProcess, redisMissing, startRedis } from "@loopwright/simulator/node";
import { redisStore } from "@loopwright/store-redis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { dataOf, framesOf, post, serveOverRedis } from "./redis-scene.ts";

const missing = redisMissing();
if (missing) console.info(`Skipped: answers over a store and a channel of Redis: ${missing}.`);

const answers = 12;
const pieces = (name: string, count: number): readonly string[] => Array.from({ length: count }, (_, at) => `${name} ${at}, `);
const note = pieces("line", 60).join("");

/** Thinking, text and a call with long arguments in many pieces, all at once; then a last word. */
function quickProvider(): { readonly provider: ModelProvider; calls: number } {
  const state = { calls: 0, provider: undefined as unknown as ModelProvider };
  state.provider = {
    name: "quick",
    defaultModel: "quick-1",
    capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
    async *stream({ messages }) {
      state.calls += 1;
      const isLast = messages.at(-1)?.role === "tool_result";
      const parts: ModelChunk[] = isLast
        ? pieces("last", 5).map((delta) => ({ type: "text", index: 0, delta }))
        : [
            ...pieces("thought", 20).map((delta) => ({ type: "thinking", index: 0, delta }) as const),
            ...pieces("word", 40).map((delta) => ({ type: "text", index: 1, delta }) as const),
            { type: "call-start", index: 2, id: "call_1", name: "write" },
            ...(JSON.stringify({ note }).match(/.{1,9}/g) ?? []).map((delta) => ({ type: "call-args", index: 2, delta }) as const),
            { type: "call-end", index: 2 },
          ];
      for (const part of parts) yield [part];
      const stopReason = isLast ? "stop" : "tool_calls";
      yield [{ type: "end", stopReason, raw: stopReason }];
    },
  };
  return state;
}

const write = defineTool({
  name: "write",
  description: "Writes a note",
  parameters: { type: "object", properties: { note: { type: "string" } } },
  execute: () => "written",
});

/** What a reader that appends deltas and takes snapshots shows at each end of an answer, beside the answer. */
function createReader() {
  const ends: (readonly [shown: string, message: string])[] = [];
  let parts = new Map<string, string>();
  let deltas = 0;
  const append = (key: string, text: string): unknown => parts.set(key, (parts.get(key) ?? "") + text);
  return {
    ends,
    get deltas() {
      return deltas;
    },
    take(event: AgentEvent) {
      if (event.type.endsWith("_delta")) deltas += 1;
      if (event.type === "message_start" || event.type === "attempt_discarded") parts = new Map();
      else if (event.type === "text_delta") append(`text ${event.index}`, event.delta);
      else if (event.type === "thinking_delta") append(`thinking ${event.index}`, event.delta);
      else if (event.type === "toolcall_start") append(`call ${event.index}`, `${event.toolName} `);
      else if (event.type === "toolcall_delta") append(`call ${event.index}`, event.delta);
      else if (event.type === "message_snapshot") {
        parts = partsOf(event.content);
        for (const { index, toolName, argsText } of event.calls ?? []) append(`call ${index}`, `${toolName} ${argsText}`);
      } else if (event.type === "message_end" && event.message.role === "assistant")
        ends.push([shown(parts), shown(partsOf(event.message.content))]);
    },
  };
}

const shown = (parts: ReadonlyMap<string, string>): string => [...parts].map((part) => part.join(": ")).join("\n");
const partsOf = (content: readonly AssistantPart[]): Map<string, string> =>
  new Map(
    content.flatMap((part, index) => {
      if (part.type === "tool_call") return [[`call ${index}`, `${part.name} ${JSON.stringify(part.args)}`]];
      return part.type === "text" || part.type === "thinking" ? [[`${part.type} ${index}`, part.text]] : [];
    }),
  );

type Named = AgentEvent & { readonly sessionId?: string };

/** Reads until each of the sessions ended its run. */
async function readAll(events: AsyncIterable<Named>, sessions: readonly string[]) {
  const open = new Set(sessions);
  const readers = new Map(sessions.map((id) => [id, createReader()]));
  for await (const event of events) {
    const id = sessions.length === 1 ? (sessions[0] as string) : (event.sessionId ?? "");
    readers.get(id)?.take(event);
    if (event.type === "run_end") open.delete(id);
    if (open.size === 0) break;
  }
  return [...readers.values()];
}

/** The deltas and ends of answers under names of a product's own. */
const productDialect: StreamDialect = {
  name: "product",
  open: () => ({
    events: (id, events) =>
      events.flatMap((event): readonly DialectFrame[] => {
        if (event.type === "text_delta") return [{ event: "Delta", data: { conversationId: id, text: event.delta }, isSpare: true }];
        if (event.type === "run_end") return [{ event: "Ended", data: { conversationId: id } }];
        if (event.type !== "message_end" || event.message.role !== "assistant") return [];
        return [{ event: "Answer", data: { conversationId: id, text: textOf(event.message) } }];
      }),
    notification: () => [],
  }),
};

interface DialectData {
  readonly conversationId: string;
  readonly text: string;
}

/** In the dialect: what the deltas of an answer add up to, beside the text that it ends with. */
async function readDialect(frames: AsyncIterable<readonly [string, DialectData]>, sessions: readonly string[]) {
  const open = new Set(sessions);
  const texts = new Map<string, string>();
  const ends: (readonly [string, string])[] = [];
  for await (const [name, data] of frames) {
    const { conversationId: id } = data;
    if (!sessions.includes(id)) continue;
    if (name === "Delta") texts.set(id, (texts.get(id) ?? "") + data.text);
    if (name === "Answer") {
      ends.push([texts.get(id) ?? "", data.text]);
      texts.delete(id);
    }
    if (name === "Ended") open.delete(id);
    if (open.size === 0) break;
  }
  return ends;
}

describe.skipIf(missing !== undefined)("answers over a store and a channel of Redis", () => {
  let redis: RedisProcess;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  async function serve(prefix: string, role: "all" | "server" = "all") {
    const store = redisStore({ url: redis.url, prefix, deadlineMs: 20_000 });
    const model = quickProvider();
    const agents = [createAgent({ name: "helper", provider: model.provider, tools: [write] })];
    const { url } = await serveOverRedis(redis.url, { agents, store, isOneOfMany: true, role, dialects: [productDialect] });
    onTestFinished(() => store.close?.());
    return { url, model };
  }
  type Server = Awaited<ReturnType<typeof serve>>;

  /** Sends an input for each session to one server, and reads all of them at the other one. */
  async function exchange(from: Server, to: Server, name: string): Promise<void> {
    const sessions = Array.from({ length: answers }, (_, at) => `${name}-${at}`);
    for (const id of sessions) expect((await post(`${from.url}/api/sessions`, { id })).status).toBe(201);
    const stop = new AbortController();
    const watch = (path: string): Promise<Response> => fetch(`${to.url}/api/${path}`, { signal: stop.signal });
    const query = sessions.map((id) => `session=${id}`).join("&");
    const events = await Promise.all(sessions.map((id) => watch(`sessions/${id}/events?after=`)));
    const notifications = await watch(`notifications?${query}`);
    const dialect = await watch("notifications?dialect=product");
    const reading = {
      events: Promise.all(events.map((response, at) => readAll(dataOf<Named>(response), [sessions[at] as string]))),
      notifications: readAll(dataOf<Named>(notifications), sessions),
      dialect: readDialect(framesOf<DialectData>(dialect), sessions),
    };
    await Promise.all(
      sessions.map(async (id) => expect((await post(`${from.url}/api/sessions/${id}/messages`, { input: "Go" })).status).toBe(202)),
    );
    const readers = { events: (await reading.events).flat(), notifications: await reading.notifications };
    const dialectEnds = await reading.dialect;
    stop.abort();
    for (const [kind, all] of Object.entries(readers)) {
      expect(all.flatMap(({ ends }) => ends).length, kind).toBe(2 * answers);
      for (const { ends } of all) for (const [had, message] of ends) expect(had, kind).toBe(message);
      expect(
        all.reduce((sum, { deltas }) => sum + deltas, 0),
        kind,
      ).toBeGreaterThan(0);
    }
    expect(dialectEnds).toHaveLength(2 * answers);
    for (const [had, text] of dialectEnds) expect(had, "dialect").toBe(text);
  }

  /** Follows executions through the client; a reader that only adds up `text_delta` has the text too. */
  async function executions(url: string): Promise<void> {
    const client = createClient({ url });
    const all = await Promise.all(
      Array.from({ length: answers }, async () => {
        const reader = createReader();
        let text = "";
        const texts: string[] = [];
        for await (const event of client.execute("Go", { agent: "helper" })) {
          reader.take(event as AgentEvent);
          if (event.type === "message_start") text = "";
          if (event.type === "text_delta") text += event.delta;
          if (event.type === "message_end" && event.message.role === "assistant") texts.push(text, textOf(event.message));
        }
        expect(texts[0]).toBe(texts[1]);
        expect(texts[2]).toBe(texts[3]);
        return reader;
      }),
    );
    for (const { ends } of all) {
      expect(ends).toHaveLength(2);
      for (const [had, message] of ends) expect(had).toBe(message);
    }
  }

  it("P3 a reader of one server that appends deltas and takes snapshots has each answer of the other one in full", async () => {
    const a = await serve("one-way");
    const b = await serve("one-way", "server");
    await exchange(a, b, "quick");
    expect(a.model.calls).toBe(2 * answers);
    expect(b.model.calls).toBe(0);
  }, 60_000);

  it("P3 readers of both servers have the answers of the other one in full while both run", async () => {
    const [a, b] = [await serve("both-ways"), await serve("both-ways")];
    await Promise.all([exchange(a, b, "there"), exchange(b, a, "back")]);
    expect(a.model.calls + b.model.calls).toBe(4 * answers);
    expect(a.model.calls).toBeGreaterThan(0);
    expect(b.model.calls).toBeGreaterThan(0);
  }, 60_000);

  it("P3 an execution of the client has each answer in full at a server that runs nothing", async () => {
    const a = await serve("execute");
    const b = await serve("execute", "server");
    await executions(b.url);
    expect(a.model.calls).toBe(2 * answers);
    expect(b.model.calls).toBe(0);
  }, 60_000);
});
