import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { pickColour, type SentBody, scriptedAgent } from "../test-server.ts";
import { payloadScene, problemIn } from "./payload-scene.ts";
import { json, pour, rawExchange, requestText } from "./raw-exchange.ts";

const nestedIn = (open: string, close: string, depth: number): string => `{"metadata":{"a":${open.repeat(depth)}1${close.repeat(depth)}}}`;
const manyKeys = (count: number): string => `{"metadata":{${Array.from({ length: count }, (_, key) => `"k${key}":0`).join(",")}}}`;
const utf8 = (...bytes: readonly number[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array([...Buffer.from('{"title":"'), ...bytes, ...Buffer.from('"}')]);

/** The session to be made, with the status, the code and a word of the answer. */
const bodies: readonly (readonly [name: string, body: SentBody, status: number, code: string, word: string])[] = [
  ["10,000 lists in each other", nestedIn("[", "]", 10_000), 400, "INPUT_INVALID", "deeper than 64"],
  ["10,000 objects in each other", nestedIn('{"a":', "}", 10_000), 400, "INPUT_INVALID", "deeper than 64"],
  ["100,000 brackets that are never closed", `{"metadata":{"a":${"[".repeat(100_000)}`, 400, "INPUT_INVALID", "not JSON"],
  ["a million keys", manyKeys(1_000_000), 413, "PAYLOAD_TOO_LARGE", "1048576 bytes"],
  ["1e999", '{"metadata":{"a":1e999}}', 400, "INPUT_INVALID", "too large"],
  ["-1e999 in a list", '{"metadata":{"a":[0,-1e999]}}', 400, "INPUT_INVALID", "too large"],
  ["9007199254740993", '{"metadata":{"order":9007199254740993}}', 400, "INPUT_INVALID", "`order`"],
  ["a number of 400 digits", `{"metadata":{"order":${"9".repeat(400)}}}`, 400, "INPUT_INVALID", "too large"],
  ["a number where a name belongs", '{"id":12}', 400, "INPUT_INVALID", "`id`"],
  ["a byte order mark", '\uFEFF{"title":"a"}', 400, "INPUT_INVALID", "byte order mark"],
  ["UTF-16", Buffer.from('\uFEFF{"title":"a"}', "utf16le"), 400, "INPUT_INVALID", "not UTF-8"],
  ["a NUL after the end", '{"title":"a"}\0', 400, "INPUT_INVALID", "not JSON"],
  ["a NUL in a text", '{"title":"a\\u0000b"}', 400, "INPUT_INVALID", "NUL"],
  ["a NUL in a name", '{"metadata":{"a\\u0000b":1}}', 400, "INPUT_INVALID", "NUL"],
  ["half a surrogate pair as three bytes", utf8(0xed, 0xa0, 0xbd), 400, "INPUT_INVALID", "not UTF-8"],
  ["an overlong slash", utf8(0xc0, 0xaf), 400, "INPUT_INVALID", "not UTF-8"],
  ["a character that was cut off", utf8(0xf0, 0x9f, 0x98), 400, "INPUT_INVALID", "not UTF-8"],
  ["NaN", '{"metadata":{"a":NaN}}', 400, "INPUT_INVALID", "not JSON"],
  ["a comment", '{"title":"a"}//', 400, "INPUT_INVALID", "not JSON"],
  ["two values", "{}{}", 400, "INPUT_INVALID", "not JSON"],
];

describe("H05: a body", () => {
  it.each(bodies)("of %s is refused before anything is kept, with or without a port", async (_, body, status, code, word) => {
    const { port, url, send, writes, store } = await payloadScene();
    const overPort = await fetch(`${url}/api/sessions`, { method: "POST", body, headers: json });
    for (const answer of [overPort, await send("/api/sessions", { body, headers: json })]) {
      expect(answer.status).toBe(status);
      expect(await answer.json()).toMatchObject({ code, detail: expect.stringContaining(word), fix: expect.stringMatching(/./) });
    }
    expect(writes).toEqual([]);
    expect(await store.index.list("local")).toEqual([]);
    expect(await rawExchange({ port, bytes: requestText("GET /healthz") })).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("of a gigabyte is refused by its announcement, and where it has none as soon as it is too much", async () => {
    const { port, writes } = await payloadScene();
    const head = "HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    for (const path of ["/api/sessions", "/api/agent/execute", "/api/files"]) {
      const announced = await rawExchange({ port, bytes: `POST ${path} ${head}Content-Length: 1073741824\r\n\r\n` });
      expect(problemIn(announced)).toMatchObject({ status: 413, code: "PAYLOAD_TOO_LARGE" });
      let sent = (): number => 0;
      const piece = `10000\r\n${" ".repeat(0x10000)}\r\n`;
      const answer = await rawExchange({
        port,
        bytes: `POST ${path} ${head}Transfer-Encoding: chunked\r\n\r\n`,
        meanwhile: (socket) => {
          sent = pour(socket, piece);
        },
      });
      // A reset may overtake the answer.
      expect(answer === "" || answer.startsWith("HTTP/1.1 413 ")).toBe(true);
      expect(sent()).toBeLessThan(128 * 1024 * 1024);
    }
    expect(writes).toEqual([]);
  });

  it("that is compressed is refused unread, however it is called, and without a name it is no JSON", async () => {
    const { url, writes } = await payloadScene();
    const spaces = Buffer.alloc(16 * 1024 * 1024, " ");
    const bomb = gzipSync(spaces);
    const forms: readonly (readonly [encoding: string, body: SentBody])[] = [
      ["gzip", bomb],
      ["x-gzip", bomb],
      ["deflate", deflateSync(spaces)],
      ["br", brotliCompressSync("{}")],
      ["identity, gzip", gzipSync("{}")],
      ["GZIP", gzipSync("{}")],
    ];
    for (const [encoding, body] of forms) {
      const answer = await fetch(`${url}/api/sessions`, { method: "POST", body, headers: { ...json, "Content-Encoding": encoding } });
      expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([415, "MEDIA_TYPE_UNSUPPORTED"]);
    }
    const unnamed = await fetch(`${url}/api/sessions`, { method: "POST", body: bomb, headers: json });
    expect(unnamed.status).toBe(400);
    expect(writes).toEqual([]);
  });

  it("with half a character keeps well-formed text, in names and in values, and so does a whole one", async () => {
    const { ask, store } = await payloadScene();
    const body = '{"id":"a","title":"a\\ud83d","metadata":{"k\\ude00":["\\ud83d","\\ud83d\\ude00","\\ud83dx\\ude00"]}}';
    expect((await ask("/api/sessions", { body, headers: json })).status).toBe(201);
    const message = '{"message":{"role":"user","content":[{"type":"text","text":"cut \\ud83d"}]}}';
    expect((await ask("/api/sessions/a/messages", { body: message, headers: json })).status).toBe(202);
    const facts = JSON.stringify(await store.log.read({ scope: "local", session: "a" }));
    expect(facts.isWellFormed()).toBe(true);
    expect(facts).not.toMatch(/\\ud83d/i);
    expect(facts).toContain('{"k\uFFFD":["\uFFFD","😀","\uFFFDx\uFFFD"]}');
    expect(facts).toContain("cut \uFFFD");
  });

  it("with as many keys as fit is an object like any other", async () => {
    const { ask } = await payloadScene();
    expect((await ask("/api/sessions", { body: manyKeys(20_000), headers: json })).status).toBe(201);
  });

  it("may hold whole numbers as large as can be held, and longer ones in texts", async () => {
    const { ask } = await payloadScene();
    const metadata = '{"most":9007199254740991,"least":-9007199254740991,"text":"9007199254740993","part":0.1234567890123456789}';
    const { status, body } = await ask("/api/sessions", { body: `{"metadata":${metadata}}`, headers: json });
    expect(status).toBe(201);
    expect(body["metadata"]).toEqual({ most: 2 ** 53 - 1, least: 1 - 2 ** 53, text: "9007199254740993", part: 0.12345678901234568 });
  });

  it("of every other route is looked at in the same way, for inputs and for results", async () => {
    const ask = { calls: [{ name: "pick_colour", args: {}, id: "c1" }] };
    const {
      send,
      ask: sendJson,
      writes,
    } = await payloadScene({ agents: [scriptedAgent([ask, { text: "Red." }], { tools: [pickColour] })] });
    await sendJson("/api/sessions", { json: { id: "a" } });
    await sendJson("/api/sessions/a/messages", { json: { input: "Pick" } });
    await (await send("/api/sessions/a/events")).text();
    const before = writes.length;
    const flawed = ["1e999", "9007199254740993", '"\\u0000"', `${"[".repeat(65)}${"]".repeat(65)}`, '{"__proto__":1}', "\uFEFF1", "\0"];
    for (const value of flawed)
      for (const [path, body] of [
        ["/api/agent/execute", `{"context":{},"input":{"role":"user","content":[{"type":"json","value":${value}}]}}`],
        ["/api/sessions/a/messages", `{"message":{"role":"user","content":[{"type":"json","value":${value}}]}}`],
        ["/api/sessions/a/tool-results", `{"results":[{"role":"tool_result","toolCallId":"c1","content":"x","details":${value}}]}`],
        ["/api/sessions/a/abort", `{"reason":"enough","more":${value}}`],
        ["/api/sessions", `{"context":{"tools":[{"name":"t","description":"","parameters":{"default":${value}}}]}}`],
      ] as const) {
        const answer = await send(path, { body, headers: json });
        expect(answer.status, `${path} ${value.slice(0, 20)}`).toBe(400);
        expect(await answer.json()).toMatchObject({ code: "INPUT_INVALID" });
      }
    expect(writes).toHaveLength(before);
  });

  it("is answered with ids that are texts: no number of a log is too large for its reader", async () => {
    const { ask, send } = await payloadScene();
    await ask("/api/sessions", { json: { id: "a" } });
    const { body } = await ask("/api/sessions/a/messages", { json: { input: "Hi" } });
    expect(body).toMatchObject({ sessionId: "a", runId: expect.any(String), inputId: expect.any(String) });
    expect(await (await send("/api/sessions/a/events")).text()).toMatch(/^id: \d+\.\d+$/m);
    for (const cursor of ["9007199254740993.0", "1e999.0", "-1.0", "1.0\u0000", "NaN.0", "0x1.0", "99999999999999999999.1"]) {
      const answer = await send(`/api/sessions/a/events?after=${encodeURIComponent(cursor)}`);
      expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([400, "CURSOR_INVALID"]);
    }
  });
});
