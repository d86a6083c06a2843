import { AgentError, isAgentError, problemOf, type SessionEvent, type SessionSnapshot } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import { applyEvents, type ConnectionState, createClient, type FollowedEvent, type SessionView, viewOf } from "../src/index.ts";
import { impatientClock, watchedClock } from "./impatient-clock.ts";
import { frameOf, ScriptedSession } from "./scripted-session.ts";

const url = "http://localhost/base";
const isEvent = (event: FollowedEvent): event is SessionEvent => "seq" in event || "lane" in event;
const durableEvent = (seq: number, text = "x"): SessionEvent => ({
  type: "session_changed",
  title: text,
  seq,
  k: 0,
  at: 1,
  sessionId: "s",
});
const sse = (text: string): Response => new Response(text, { headers: { "Content-Type": "text/event-stream" } });
const problem = (code: ConstructorParameters<typeof AgentError>[0], headers = {}): Response => {
  const document = problemOf(new AgentError(code, { message: `It is ${code}.` }));
  return Response.json(document, { status: document.status, headers: { "Content-Type": "application/problem+json", ...headers } });
};

/** Reads until something is seen, then stops watching. */
async function readUntil(
  client: ReturnType<typeof createClient>,
  options: { readonly after?: string; readonly onState?: (state: ConnectionState) => void },
  isLast: (event: FollowedEvent) => boolean,
): Promise<readonly FollowedEvent[]> {
  const seen: FollowedEvent[] = [];
  const stop = new AbortController();
  for await (const batch of client.follow("s", { ...options, signal: stop.signal })) {
    seen.push(...batch);
    if (batch.some(isLast)) stop.abort();
  }
  return seen;
}

describe("following a session over connections that are cut at any byte", () => {
  it("gives each durable event once and in order, and a view that equals the server's", async () => {
    let connections = 0;
    for (let seed = 1; seed <= 60; seed++) {
      const server = new ScriptedSession(seed);
      const client = createClient({ url, clock: impatientClock(), fetch: async (request) => server.events(new URL(request.url)) });
      const opened = server.steps[1]?.snapshot() as SessionSnapshot;
      let view: SessionView = viewOf(opened);
      const seen: SessionEvent[] = [];
      const stop = new AbortController();
      for await (const batch of client.follow("s", { after: opened.cursor, signal: stop.signal })) {
        const events = batch.filter(isEvent);
        seen.push(...events);
        view = applyEvents(view, events);
        if (batch.some(({ type }) => type === "rest") && server.isAtEnd) stop.abort();
      }
      connections += server.connections;
      expect(seen.filter((event) => "seq" in event)).toEqual(server.durable);
      const end = viewOf(server.steps.at(-1)?.snapshot() as SessionSnapshot);
      expect(view.path.map(({ message }) => message)).toEqual(end.path.map(({ message }) => message));
      expect([view.status, view.usage, view.cost, view.lastRun]).toEqual([end.status, end.usage, end.cost, end.lastRun]);
    }
    expect(connections).toBeGreaterThan(600);
  });

  it("begins with a snapshot where no cursor is given, whatever is cut", async () => {
    for (let seed = 1; seed <= 30; seed++) {
      const server = new ScriptedSession(seed);
      const client = createClient({ url, clock: impatientClock(), fetch: async (request) => server.events(new URL(request.url)) });
      let view: SessionView | undefined;
      const stop = new AbortController();
      for await (const batch of client.follow("s", { signal: stop.signal })) {
        for (const event of batch) {
          if (event.type === "session_snapshot") view = viewOf(event.snapshot);
          else if (view && isEvent(event)) view = applyEvents(view, [event]);
        }
        if (batch.some(({ type }) => type === "rest") && server.isAtEnd) stop.abort();
      }
      const end = viewOf(server.steps.at(-1)?.snapshot() as SessionSnapshot);
      expect(view?.path.map(({ id }) => id)).toEqual(end.path.map(({ id }) => id));
    }
  });

  it("reads a frame whose characters of several bytes are cut apart at every place", async () => {
    const text = "Grüße, 你好 🚀\u2028\u0000 \\n data: x";
    const bytes = new TextEncoder().encode(`${frameOf(durableEvent(1, text))}${frameOf({ type: "rest" })}`);
    for (let cut = 1; cut < bytes.length; cut++) {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(bytes.slice(0, cut));
          controller.enqueue(bytes.slice(cut));
          controller.close();
        },
      });
      const client = createClient({ url, clock: impatientClock(), fetch: async () => new Response(body) });
      const [event] = await readUntil(client, { after: "" }, ({ type }) => type === "rest");
      expect(event).toEqual(durableEvent(1, text));
    }
  });
});

describe("the connection of a follower", () => {
  it("waits longer after each failure, up to a cap, and begins anew once something came", async () => {
    const clock = impatientClock();
    let asked = 0;
    const fetch = async (): Promise<Response> => {
      asked += 1;
      if (asked === 8) return sse(frameOf(durableEvent(1)));
      if (asked === 10) return sse(frameOf({ type: "rest" }));
      throw new TypeError("no network");
    };
    await readUntil(createClient({ url, clock, random: () => 0.999_999, fetch }), { after: "" }, ({ type }) => type === "rest");
    expect(clock.waits).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 500, 1_000]);
  });

  it("takes the wait that the server asks for, by `retry:` and by `Retry-After`", async () => {
    const clock = impatientClock();
    const answers = [sse("retry: 2000\n\n"), problem("NOT_READY", { "Retry-After": "7" }), sse(frameOf({ type: "rest" }))];
    const fetch = async (): Promise<Response> => answers.shift() as Response;
    await readUntil(createClient({ url, clock, random: () => 0.5, fetch }), { after: "" }, ({ type }) => type === "rest");
    expect(clock.waits).toEqual([1_000, 7_000]);
  });

  it("is reported to a caller that asks", async () => {
    const states: ConnectionState[] = [];
    const answers = [() => Promise.reject(new TypeError("no network")), async () => sse(frameOf({ type: "rest" }))];
    const client = createClient({
      url,
      clock: impatientClock(),
      random: () => 0.5,
      fetch: () => (answers.shift() as () => Promise<Response>)(),
    });
    await readUntil(client, { after: "", onState: (state) => states.push(state) }, ({ type }) => type === "rest");
    expect(states.map(({ state }) => state)).toEqual(["connecting", "waiting", "connecting", "open", "closed"]);
    const [, waiting] = states;
    expect(waiting?.state === "waiting" && waiting.retryInMs).toBe(250);
    expect(waiting && "error" in waiting && isAgentError(waiting.error, "SERVER_UNREACHABLE")).toBe(true);
  });

  it("is made again when not even a ping came for 45 seconds", async () => {
    const clock = watchedClock();
    const silent = clock.waiting(45_000);
    let asked = 0;
    const fetch = async (): Promise<Response> => {
      asked += 1;
      return asked === 1 ? new Response(new ReadableStream({})) : sse(frameOf({ type: "rest" }));
    };
    const waiting = clock.waiting(0);
    const reading = readUntil(createClient({ url, clock, random: () => 0, fetch }), { after: "" }, ({ type }) => type === "rest");
    await silent;
    clock.advance(44_999);
    expect(asked).toBe(1);
    clock.advance(1);
    await waiting;
    clock.advance(0);
    await reading;
    expect(asked).toBe(2);
  });

  it("stays as long as pings come", async () => {
    const clock = watchedClock();
    let send: (text: string) => void = () => {};
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        send = (text) => controller.enqueue(new TextEncoder().encode(text));
      },
    });
    let asked = 0;
    const fetch = async (): Promise<Response> => {
      asked += 1;
      return new Response(body);
    };
    const stop = new AbortController();
    const batches = createClient({ url, clock, fetch }).follow("s", { after: "", signal: stop.signal })[Symbol.asyncIterator]();
    for (let round = 1; round <= 6; round++) {
      const next = batches.next();
      send(`: ping\n\n${frameOf(durableEvent(round))}`);
      await next;
      clock.advance(30_000);
    }
    expect(asked).toBe(1);
    stop.abort();
    expect(await batches.next()).toEqual({ value: undefined, done: true });
  });

  it.each(["SESSION_NOT_FOUND", "CURSOR_INVALID", "UNAUTHENTICATED"] as const)("ends for good with %s", async (code) => {
    const states: string[] = [];
    const client = createClient({ url, clock: impatientClock(), fetch: async () => problem(code) });
    const reading = readUntil(client, { after: "3.0", onState: ({ state }) => states.push(state) }, () => true);
    await expect(reading).rejects.toMatchObject({ code, message: `It is ${code}.` });
    expect(states).toEqual(["connecting", "closed"]);
  });

  it.each([
    ["has lost what the reader saw", "HISTORY_LOST"],
    ["tells no more of what is so old", "HISTORY_EXPIRED"],
  ] as const)("asks for a snapshot where the server %s", async (_, code) => {
    const asked: string[] = [];
    const snapshot = { ...new ScriptedSession(1).steps[1]?.snapshot(), cursor: "2.65535" };
    const fetch = async (request: Request): Promise<Response> => {
      asked.push(new URL(request.url).search);
      if (asked.length === 1) return problem(code);
      return sse(
        `${frameOf({ type: "session_snapshot", snapshot } as { type: string })}${frameOf(durableEvent(3))}${frameOf({ type: "rest" })}`,
      );
    };
    const seen = await readUntil(createClient({ url, clock: impatientClock(), fetch }), { after: "9.0" }, ({ type }) => type === "rest");
    expect(asked).toEqual(["?after=9.0", "?from=now"]);
    expect(seen.map(({ type }) => type)).toEqual(["session_snapshot", "session_changed", "rest"]);
  });

  it("replaces one session among others by a snapshot when the server has no more events for its cursor", async () => {
    const snapshot = { ...new ScriptedSession(1).steps[1]?.snapshot(), cursor: "12.65535" };
    const answers: Record<string, (() => Response)[]> = {
      "/base/api/notifications": [() => problem("HISTORY_EXPIRED"), () => sse(frameOf(durableEvent(13)))],
      "/base/api/sessions/s": [() => Response.json(snapshot)],
    };
    const fetch = async (request: Request): Promise<Response> => answers[new URL(request.url).pathname]?.shift()?.() as Response;
    const client = createClient({ url, clock: impatientClock(), fetch });
    for await (const batch of client.notifications({ sessions: { s: "9.0" } })) {
      expect(batch.map(({ type }) => type)).toEqual(["session_snapshot", "session_changed"]);
      break;
    }
  });

  it("asks again for what was lost where the server is away in between", async () => {
    const snapshot = { ...new ScriptedSession(1).steps[1]?.snapshot(), cursor: "2.65535" };
    const answers: Record<string, (() => Response)[]> = {
      "/base/api/notifications": [() => problem("HISTORY_LOST"), () => problem("HISTORY_LOST"), () => sse(frameOf(durableEvent(3)))],
      "/base/api/sessions/s": [() => problem("STORE_UNAVAILABLE"), () => Response.json(snapshot)],
    };
    const fetch = async (request: Request): Promise<Response> => answers[new URL(request.url).pathname]?.shift()?.() as Response;
    const client = createClient({ url, clock: impatientClock(), fetch });
    for await (const batch of client.notifications({ sessions: { s: "9.0" } })) {
      expect(batch.map(({ type }) => type)).toEqual(["session_snapshot", "session_changed"]);
      break;
    }
  });

  it("delivers nothing twice, even when a server sends again what the reader has", async () => {
    const again = [durableEvent(1), durableEvent(2), durableEvent(2), durableEvent(1), durableEvent(3)].map(frameOf).join("");
    const answers = [sse(again), sse(`${again}${frameOf({ type: "rest" })}`)];
    const client = createClient({ url, clock: impatientClock(), fetch: async () => answers.shift() as Response });
    const seen = await readUntil(client, { after: "1.0" }, ({ type }) => type === "rest");
    expect(seen).toEqual([durableEvent(2), durableEvent(3), { type: "rest" }]);
  });

  it("takes a proxy's page for a server that is away, and garbage for a cut", async () => {
    const answers = [
      new Response("<h1>Bad gateway</h1>", { status: 502 }),
      sse("data: {nonsense\n\n"),
      sse(`${frameOf({ type: "of_the_future" })}${frameOf({ type: "rest" })}`),
    ];
    const client = createClient({ url, clock: impatientClock(), fetch: async () => answers.shift() as Response });
    const seen = await readUntil(client, { after: "" }, ({ type }) => type === "rest");
    expect(seen.map(({ type }) => type)).toEqual(["of_the_future", "rest"]);
  });

  it("carries the token and the headers, and ends the request when its reader has left", async () => {
    let signal: AbortSignal | undefined;
    let sent: Headers | undefined;
    const fetch = async (request: Request): Promise<Response> => {
      signal = request.signal;
      sent = request.headers;
      return sse(frameOf({ type: "rest" }));
    };
    for await (const _ of createClient({ url, token: async () => "secret", headers: { "X-Team": "a" }, fetch }).follow("s")) break;
    expect([sent?.get("Authorization"), sent?.get("X-Team"), signal?.aborted]).toEqual(["Bearer secret", "a", true]);
  });
});
