import { AgentError, type AgentEvent, isAgentError, problemOf } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import { type ConnectionState, createClient } from "../src/index.ts";
import { impatientClock } from "./impatient-clock.ts";
import { frameOf } from "./scripted-session.ts";

const url = "http://localhost/base/";
const at = { at: 1, sessionId: "s1", runId: "r1" };
const accepted: AgentEvent = { type: "input_accepted", inputId: "i", mode: "enqueue", seq: 2, k: 0, ...at };
const started: AgentEvent = { type: "run_start", model: "m", provider: "p", seq: 3, k: 0, ...at };
const ended: AgentEvent = { type: "run_end", status: "completed", reason: "answer", seq: 4, k: 0, ...at };
const ends: readonly AgentEvent[] = [
  ended,
  { type: "session_end", sessionId: "s1", messages: [] },
  { type: "execute_complete", status: "completed" },
];

const sse = (...events: readonly { readonly type: string }[]): Response =>
  new Response(events.map(frameOf).join(""), { headers: { "Content-Type": "text/event-stream" } });

function problem(code: ConstructorParameters<typeof AgentError>[0], headers = {}): Response {
  const document = problemOf(new AgentError(code, { message: `It is ${code}.` }));
  return Response.json(document, { status: document.status, headers: { "Content-Type": "application/problem+json", ...headers } });
}

type Answer = Response | Error;

/** A client whose requests are answered one after the other; the last answer continues. */
function scene(...answers: readonly Answer[]) {
  const requests: Request[] = [];
  const clock = impatientClock();
  const client = createClient({
    url,
    clock,
    random: () => 0.5,
    async fetch(request) {
      requests.push(request.clone());
      const answer = answers[Math.min(requests.length, answers.length) - 1] as Answer;
      if (answer instanceof Error) throw answer;
      return answer.clone();
    },
  });
  return { client, requests, clock };
}

async function readAll(stream: AsyncIterable<AgentEvent>): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

describe("an execution over HTTP", () => {
  it("posts again under the same key, after the last durable event, until the end frames came", async () => {
    const { client, requests } = scene(
      sse({ type: "session_start" }, accepted),
      new TypeError("no network"),
      sse({ type: "session_start" }, accepted, started, { type: "of_the_future" }),
      sse({ type: "session_start" }, ...ends),
    );
    const stream = client.execute("hello", { sessionId: "s1", idempotencyKey: "k1" });
    expect((await readAll(stream)).map(({ type }) => type)).toEqual([
      "session_start",
      "input_accepted",
      "run_start",
      "run_end",
      "session_end",
      "execute_complete",
    ]);
    expect(requests.map(({ headers }) => headers.get("Idempotency-Key"))).toEqual(["k1", "k1", "k1", "k1"]);
    expect(requests.map(({ headers }) => headers.get("Last-Event-ID"))).toEqual([null, "2.0", "2.0", "3.0"]);
    expect(requests.map((request) => `${request.method} ${request.url}`)[0]).toBe("POST http://localhost/base/api/agent/execute");
    expect(await requests[0]?.json()).toEqual({ sessionId: "s1", input: "hello", options: {} });
  });

  it("sends the trace of the caller's work as a header, and not in the body", async () => {
    const sent: { readonly trace: string | null; readonly body: string }[] = [];
    const fetch = async (...[input, init]: Parameters<typeof globalThis.fetch>): Promise<Response> => {
      const request = new Request(input, init);
      sent.push({ trace: request.headers.get("traceparent"), body: await request.text() });
      return new Response(null, { status: 404 });
    };
    const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const client = createClient({ url: "http://127.0.0.1:9", fetch });
    await expect(client.execute("Hi", { trace, model: "small" }).result()).rejects.toThrow();
    await expect(client.sessions.submit("a", "Hi", { trace, model: "small" })).rejects.toThrow();
    expect(sent.map(({ trace: header, body }) => [header, body.includes("00f067aa0ba902b7"), body.includes("small")])).toEqual([
      [trace, false, true],
      [trace, false, true],
    ]);
  });

  it("makes a session and a key of its own where none is given", async () => {
    const { client, requests } = scene(sse(...ends));
    const stream = client.execute("hello", { agent: "helper", model: "m2", temperature: 0 });
    await stream.result();
    expect(stream.sessionId).toMatch(/^[a-z0-9][a-z0-9_-]{0,63}$/);
    expect(requests[0]?.headers.get("Idempotency-Key")).toMatch(/^[a-z2-7]{26}$/);
    expect(await requests[0]?.json()).toMatchObject({
      sessionId: stream.sessionId,
      agent: "helper",
      options: { model: "m2", temperature: 0 },
    });
  });

  it("gives up after four tries where no server ever answered", async () => {
    const { client, requests, clock } = scene(new TypeError("no network"));
    const stream = client.execute("hello");
    await expect(stream.result()).rejects.toSatisfy((error) => isAgentError(error, "SERVER_UNREACHABLE"));
    await expect(readAll(stream)).rejects.toMatchObject({ code: "SERVER_UNREACHABLE", retryable: true });
    expect([requests.length, clock.waits]).toEqual([4, [250, 500, 1_000]]);
  });

  it("keeps trying for minutes once the server has the input, then reports it as unreachable", async () => {
    const { client, requests } = scene(sse(accepted), new TypeError("no network"));
    await expect(client.execute("hello").result()).rejects.toMatchObject({ code: "SERVER_UNREACHABLE" });
    expect(requests.length).toBe(1 + 60 - 1);
  });

  it.each(["INPUT_INVALID", "SESSION_BUSY", "KEY_REUSED", "SESSION_NOT_FOUND", "UNAUTHENTICATED"] as const)(
    "is refused with %s at once, in the result and to its reader",
    async (code) => {
      const { client, requests } = scene(problem(code));
      const stream = client.execute("hello");
      await expect(stream.result()).rejects.toMatchObject({ code, message: `It is ${code}.` });
      await expect(readAll(stream)).rejects.toMatchObject({ code });
      await stream.abort();
      expect(requests.length).toBe(1);
    },
  );

  it("waits as the server asks when that is short, and is refused when it is not", async () => {
    const soon = scene(problem("RUN_LIMIT", { "Retry-After": "5" }), sse(...ends));
    await soon.client.execute("hello").result();
    expect(soon.clock.waits).toEqual([5_000]);
    const late = scene(problem("RATE_LIMITED", { "Retry-After": "50" }), sse(...ends));
    await expect(late.client.execute("hello").result()).rejects.toMatchObject({ code: "RATE_LIMITED", retryAfterMs: 50_000 });
  });

  it("is stopped by an abort that was asked for before the server had the input", async () => {
    const first = Promise.withResolvers<Response>();
    const asked: string[] = [];
    const client = createClient({
      url,
      async fetch(request) {
        asked.push(`${new URL(request.url).pathname} ${await request.text()}`);
        return asked.length === 1 ? first.promise : Response.json({ aborting: true }, { status: 202 });
      },
    });
    const stop = new AbortController();
    stop.abort("not wanted");
    const start = `data: ${JSON.stringify({ type: "session_start", sessionId: "s1", runId: "r1" })}\n\n`;
    const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new TextEncoder().encode(start)) });
    const stream = client.execute("hello", { sessionId: "s1", signal: stop.signal });
    const aborting = stream.abort("user");
    first.resolve(new Response(body));
    await aborting;
    expect(asked.slice(1).sort()).toEqual([
      '/base/api/sessions/s1/abort {"reason":"not wanted","runId":"r1"}',
      '/base/api/sessions/s1/abort {"reason":"user","runId":"r1"}',
    ]);
  });

  it("ends where a person is to decide, and names the calls", async () => {
    const pending = { toolCallId: "c", callKey: "r1.1.0", toolName: "remove", args: {}, argsDigest: "d" };
    const complete = { type: "execute_complete", status: "awaiting_tool_execution", pendingApprovals: [pending] } as const;
    const result = await scene(sse(complete)).client.execute("hello").result();
    expect(result).toMatchObject({ status: "awaiting_tool_execution", pendingApprovals: [pending] });
  });

  it("reports the state of its connection", async () => {
    const states: ConnectionState["state"][] = [];
    const { client } = scene(sse(accepted), sse(...ends));
    await client.execute("hello", { onState: ({ state }) => states.push(state) }).result();
    expect(states).toEqual(["connecting", "open", "waiting", "connecting", "open", "closed"]);
  });

  it("carries the error of the run with its advice", async () => {
    const error = problemOf(new AgentError("MODEL_AUTH", { message: "The key is wrong.", fix: "Set another." }));
    const { client } = scene(sse({ type: "execute_complete", status: "error", runId: "r1", error } as AgentEvent));
    const result = await client.execute("hello").result();
    expect(result.error).toMatchObject({ code: "MODEL_AUTH", message: "The key is wrong.", fix: "Set another.", runId: "r1" });
    expect([result.status, isAgentError(result.error, "MODEL_AUTH")]).toEqual(["error", true]);
  });
});

describe("a decision over HTTP", () => {
  const decision = { decision: "allow", args: { path: "/x" }, note: "ok", argsDigest: "d" } as const;
  const accepted = { sessionId: "s1", runId: "r1", seq: 9, replayed: false };

  it("is sent again under the same key until the server has it", async () => {
    const { client, requests } = scene(new TypeError("no network"), problem("STORE_UNAVAILABLE"), Response.json(accepted));
    expect(await client.sessions.decide("s1", "r1.1.0", decision)).toEqual({ ...accepted, stream: expect.any(Function) });
    expect(requests.map(({ method, url }) => `${method} ${new URL(url).pathname}`)).toEqual(
      Array.from({ length: 3 }, () => "POST /base/api/sessions/s1/approvals/r1.1.0"),
    );
    const keys = requests.map(({ headers }) => headers.get("Idempotency-Key"));
    expect(new Set(keys).size).toBe(1);
    expect(await requests[2]?.json()).toEqual(decision);
  });

  it("is sent under the key that it brings", async () => {
    const { client, requests } = scene(Response.json(accepted));
    await client.sessions.decide("s1", "r1.1.0", { decision: "deny", idempotencyKey: "mine" });
    expect([requests[0]?.headers.get("Idempotency-Key"), await requests[0]?.json()]).toEqual(["mine", { decision: "deny" }]);
  });

  it("that comes second is refused with the first one", async () => {
    const details = { callKey: "r1.1.0", decision: "deny", by: "ada" };
    const document = problemOf(new AgentError("APPROVAL_DECIDED", { message: "Denied already.", details }));
    const { client, requests } = scene(Response.json(document, { status: 409 }));
    await expect(client.sessions.decide("s1", "r1.1.0", decision)).rejects.toMatchObject({ code: "APPROVAL_DECIDED", details });
    expect(requests).toHaveLength(1);
  });
});
