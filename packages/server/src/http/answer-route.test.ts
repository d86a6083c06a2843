import { manualClock, memoryStore } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { type SentBody, testServer } from "../../test/test-server.ts";

const json = { "Content-Type": "application/json" };
const nested = (depth: number): string => `{"metadata":${'{"a":'.repeat(depth)}1${"}".repeat(depth)}}`;

/** Bodies as bytes come, with the code and a word of the answer. */
const badBodies: readonly (readonly [string, SentBody, string])[] = [
  ["no JSON", "{", "is not JSON"],
  ["nothing", "", "is not JSON"],
  ["a byte order mark", '\uFEFF{"id":"a"}', "byte order mark"],
  ["a raw NUL", '{"id":"a"}\0', "is not JSON"],
  ["an escaped NUL", '{"title":"a\\u0000b"}', "NUL"],
  ["bytes that are no UTF-8", new Uint8Array([0x7b, 0xff, 0x7d]), "is not UTF-8"],
  ["a number beyond all numbers", '{"metadata":{"a":1e999}}', "number that is too large"],
  ["65 levels", nested(64), "deeper than 64"],
  ["10,000 levels", nested(10_000), "deeper than 64"],
  ["a forbidden key", '{"metadata":{"__proto__":{"admin":true}}}', "__proto__"],
  ["a forbidden key deep inside", '{"metadata":{"a":[{"constructor":1}]}}', "__proto__"],
  ["a list", "[]", "expected object"],
  ["a number for an id", '{"id":900719925474099}', "`id` in the body"],
  ["a whole number that cannot be held", '{"metadata":{"order":9007199254740993}}', "`order`"],
  ["an id that is none", '{"id":"../a"}', "`id` in the body"],
  [
    "a wrong type deep inside",
    '{"context":{"messages":[{"role":"user","content":[{"type":"text","text":1}]}]}}',
    "messages[0].content[0].text",
  ],
];

describe("a JSON body", () => {
  it.each(badBodies)("of %s is refused with what is wrong, and nothing is kept", async (_, body, word) => {
    const store = memoryStore();
    const { refused } = testServer({ store });
    const problem = await refused("/api/sessions", { body, headers: json });
    expect(problem).toMatchObject({ status: 400, code: "INPUT_INVALID", fix: expect.stringContaining("openapi.json") });
    expect(problem.detail).toContain(word);
    expect(problem.error).toBe(problem.detail);
    expect(await store.index.list("local")).toEqual([]);
  });

  it("may nest 64 levels, and keeps text whose characters were cut in the middle well-formed", async () => {
    const { ask } = testServer();
    expect((await ask("/api/sessions", { body: nested(62), headers: json })).status).toBe(201);
    const { body } = await ask("/api/sessions", {
      body: '{"title":"a\\ud83d","metadata":{"k\\ud83d":["\\ude00","\\ud83d\\ude00"]}}',
      headers: json,
    });
    expect(body).toMatchObject({ title: "a\uFFFD", metadata: { "k\uFFFD": ["\uFFFD", "😀"] } });
  });

  it("is read by its media type alone", async () => {
    const { refused, send } = testServer();
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a", "application/jsonp", ""])
      expect(await refused("/api/sessions", { body: "{}", headers: { "Content-Type": type } })).toMatchObject({
        status: 415,
        code: "MEDIA_TYPE_UNSUPPORTED",
      });
    expect(await refused("/api/sessions", { body: new Uint8Array([0x7b, 0x7d]) })).toMatchObject({ status: 415 });
    expect((await send("/api/sessions", { body: "{}", headers: { "Content-Type": "Application/JSON; charset=utf-8" } })).status).toBe(201);
  });

  it("is refused when it is compressed, before it is read", async () => {
    const { refused } = testServer();
    const bomb = { body: new Uint8Array([0x1f, 0x8b]), headers: { ...json, "Content-Encoding": "gzip" } };
    expect(await refused("/api/sessions", bomb)).toMatchObject({ status: 415, code: "MEDIA_TYPE_UNSUPPORTED" });
  });

  it("is refused by its announced length without being read", async () => {
    const { refused } = testServer();
    let pulls = 0;
    const body = new ReadableStream(
      {
        pull() {
          pulls += 1;
        },
      },
      { highWaterMark: 0 },
    );
    const problem = await refused("/api/sessions", { body, headers: { ...json, "Content-Length": "1073741824" } });
    expect(problem).toMatchObject({ status: 413, code: "PAYLOAD_TOO_LARGE" });
    expect(problem.headers.get("Connection")).toBe("close");
    expect(pulls).toBe(0);
  });

  it("is read no further than the limit", async () => {
    const { refused } = testServer({ limits: { bodyBytes: 1_000 } });
    let pulls = 0;
    const body = new ReadableStream(
      {
        pull(controller) {
          pulls += 1;
          controller.enqueue(new Uint8Array(300));
        },
      },
      { highWaterMark: 0 },
    );
    expect(await refused("/api/sessions", { body, headers: json })).toMatchObject({
      status: 413,
      detail: expect.stringContaining("1000 bytes"),
    });
    expect(pulls).toBe(4);
  });

  it("has a time to come in", async () => {
    const clock = manualClock();
    const { refused, server } = testServer({ clock });
    let asked = (): void => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const body = new ReadableStream({ pull: () => asked() }, { highWaterMark: 0 });
    const answer = refused("/api/sessions", { body, headers: json });
    await isAsked;
    clock.advance(10_000);
    expect(await answer).toMatchObject({ status: 408, code: "REQUEST_TIMEOUT", retryable: true });
    await server.close();
    expect(clock.pending).toBe(0);
  });

  it("of a file must keep coming: a byte now and then is not enough", async () => {
    const clock = manualClock();
    const { refused, server } = testServer({ clock });
    const pulls: (() => void)[] = [];
    const pulled = (): Promise<void> => new Promise((resolve) => void pulls.push(resolve));
    let give = (_: number): void => {};
    const body = new ReadableStream(
      {
        pull(controller) {
          give = (sizeBytes) => controller.enqueue(new Uint8Array(sizeBytes));
          pulls.shift()?.();
        },
      },
      { highWaterMark: 0 },
    );
    const begun = pulled();
    const answer = refused("/api/files", { body, headers: { "Content-Type": "image/png" } });
    await begun;
    for (const sizeBytes of [16 * 1024, 16 * 1024, 1]) {
      const taken = pulled();
      give(sizeBytes);
      await taken;
      clock.advance(10_000);
    }
    expect(await answer).toMatchObject({ status: 408, code: "REQUEST_TIMEOUT", detail: expect.stringContaining("16384 bytes") });
    await server.close();
    expect(clock.pending).toBe(0);
  });

  it("may be missing where a route needs none", async () => {
    const { ask, refused } = testServer();
    await ask("/api/sessions", { json: { id: "a" } });
    expect((await ask("/api/sessions/a/abort", { method: "POST" })).body).toEqual({ aborting: false });
    expect((await ask("/api/sessions/a/abort", { json: { reason: "enough" } })).status).toBe(202);
    expect(await refused("/api/sessions/a/abort", { method: "POST", body: new Uint8Array([1]) })).toMatchObject({ status: 415 });
    expect(await refused("/api/sessions/a/abort", { method: "POST", body: "{}", headers: { "Content-Type": "text/plain" } })).toMatchObject(
      { status: 415 },
    );
  });
});

describe("a query", () => {
  it("is refused with the name of what is wrong", async () => {
    const { refused } = testServer();
    for (const query of ["limit=0", "limit=201", "limit=1.5", "limit=x", "limit=1&limit=2", "limit="])
      expect((await refused(`/api/sessions?${query}`)).detail).toContain("`limit` in the query");
    expect(await refused("/api/sessions?before=yesterday")).toMatchObject({ status: 400, code: "CURSOR_INVALID" });
  });
});

describe("T12: the rate of requests", () => {
  it("is counted for each caller and minute, writes apart, and the refusal names the wait", async () => {
    const clock = manualClock(60_000 * 1_000 + 15_000);
    const authenticate = (request: Request) => ({ user: request.headers.get("X-User") ?? "a", scope: "team" });
    const { send, refused } = testServer({ clock, authenticate, limits: { requestsPerMinute: 5, writesPerMinute: 2 } });
    for (const id of ["a", "b"]) expect((await send("/api/sessions", { json: { id } })).status).toBe(201);
    const write = await refused("/api/sessions", { json: {} });
    expect(write).toMatchObject({ status: 429, code: "RATE_LIMITED", retryAfterMs: 45_000, retryable: true });
    expect(write.headers.get("Retry-After")).toBe("45");
    for (let count = 0; count < 2; count += 1) expect((await send("/api/agents")).status).toBe(200);
    expect((await refused("/api/agents")).code).toBe("RATE_LIMITED");
    expect((await send("/api/agents", { headers: { "X-User": "b" } })).status).toBe(200);
    expect((await send("/healthz")).status).toBe(200);
    clock.advance(45_000);
    expect((await send("/api/sessions", { json: {} })).status).toBe(201);
  });

  it("counts anonymous callers together, and apart from callers with an identity", async () => {
    const authenticate = (request: Request) => (request.headers.has("X-User") ? { user: "a", scope: "team" } : undefined);
    const { send, refused } = testServer({ authenticate, limits: { requestsPerMinute: 3 } });
    for (let count = 0; count < 3; count += 1) expect(await refused("/api/agents")).toMatchObject({ status: 401 });
    expect(await refused("/api/agents")).toMatchObject({ status: 429 });
    expect((await send("/api/agents", { headers: { "X-User": "a" } })).status).toBe(200);
  });
});
