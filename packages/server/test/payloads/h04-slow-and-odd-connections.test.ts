import { once } from "node:events";
import { connect } from "node:net";
import { manualClock } from "@loopwright/core/memory";
import { defaultServerLimits } from "@loopwright/server";
import { defaultConnectionLimits } from "@loopwright/server/node";
import { describe, expect, it } from "vitest";
import { bearer, payloadScene, people, problemIn } from "./payload-scene.ts";
import { drip, json, pour, rawExchange, requestText } from "./raw-exchange.ts";

const closedWithinMs = 15_000;
const post = `POST /api/sessions HTTP/1.1\r\nHost: localhost\r\n${"Content-Type: application/json\r\n"}`;
const upload = "POST /api/files HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\n";
const endless = "1".repeat(9);

describe("H04: a connection that takes its time", () => {
  it("has by default at most fifteen seconds for each of its steps", () => {
    const { headersMs, checkMs, keepAliveMs, headerBytes } = defaultConnectionLimits;
    expect(headersMs + checkMs).toBeLessThanOrEqual(closedWithinMs);
    // Node.js adds a second to what it promises to clients.
    expect(keepAliveMs + 1_000).toBeLessThanOrEqual(closedWithinMs);
    expect(defaultServerLimits.bodyMs).toBeLessThanOrEqual(closedWithinMs);
    expect(defaultServerLimits.filePaceBytes).toBeGreaterThan(10);
    expect(headerBytes).toBeLessThan(20_000);
  });

  it("is closed while its headers still drip, however many do it, and all others are served meanwhile", async () => {
    const { port, writes } = await payloadScene({}, { limits: { headersMs: 500, requestMs: 700, checkMs: 20 } });
    const dripping = Array.from({ length: 200 }, () =>
      rawExchange({ port, bytes: "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", meanwhile: (socket) => drip(socket, "a") }),
    );
    const silent = Array.from({ length: 20 }, () => rawExchange({ port, bytes: "" }));
    for (let count = 0; count < 20; count += 1)
      expect(await rawExchange({ port, bytes: requestText("POST /api/sessions", json, "{}") })).toMatch(/^HTTP\/1\.1 201 /);
    for (const answer of await Promise.all([...dripping, ...silent])) expect(answer).toMatch(/^(?:HTTP\/1\.1 408 .*|)/);
    expect(writes.filter((write) => write.endsWith("session.opened"))).toHaveLength(20);
  });

  it("is answered and closed while its body still drips, and nothing of the body is kept", async () => {
    const { port, writes } = await payloadScene({ limits: { bodyMs: 60 } });
    const bodies = [
      `${post}Content-Length: 1000\r\n\r\n{`,
      `${post}Transfer-Encoding: chunked\r\n\r\n3e8\r\n{`,
      `${upload}Content-Length: 1000\r\n\r\n{`,
    ];
    const answers = bodies.map((bytes) => rawExchange({ port, bytes, meanwhile: (socket) => drip(socket, " ") }));
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 /);
      expect(problemIn(answer)).toMatchObject({ code: "REQUEST_TIMEOUT", retryable: true });
    }
    expect(writes).toEqual([]);
  });

  it("is closed after an answer that came before its unread body, and after one that no request follows", async () => {
    const { port, writes } = await payloadScene({ authenticate: people }, { limits: { keepAliveMs: 1 } });
    const rest = "Content-Length: 1000000\r\n\r\n{";
    const cases: readonly (readonly [bytes: string, status: RegExp])[] = [
      [`${post}${rest}`, /^HTTP\/1\.1 401 /],
      [`${upload}${rest}`, /^HTTP\/1\.1 401 /],
      [`POST /nope HTTP/1.1\r\nHost: localhost\r\n${rest}`, /^HTTP\/1\.1 404 /],
      [`POST /api/sessions HTTP/1.1\r\nHost: evil.com\r\n${rest}`, /^HTTP\/1\.1 421 /],
      [`GET /healthz HTTP/1.1\r\nHost: localhost\r\n${rest}`, /^HTTP\/1\.1 200 /],
      [`${post}Authorization: ${bearer("anne-0123456789abcdef").Authorization}\r\nContent-Encoding: gzip\r\n${rest}`, /^HTTP\/1\.1 415 /],
    ];
    const idle = rawExchange({ port, bytes: "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" });
    const answers = await Promise.all(cases.map(([bytes]) => rawExchange({ port, bytes, meanwhile: (socket) => drip(socket, " ") })));
    for (const [place, [, status]] of cases.entries()) expect(answers[place]).toMatch(status);
    expect(await idle).toMatch(/^HTTP\/1\.1 200 /);
    expect(writes).toEqual([]);
  });
});

describe("H04: a connection that asks much at once", () => {
  it("gets a thousand answers in order, each once, and others are served between", async () => {
    const { port } = await payloadScene();
    const many = Array.from(
      { length: 999 },
      (_, count) => `GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: n${count}\r\n\r\n`,
    ).join("");
    const all = rawExchange({ port, bytes: `${many}${requestText("GET /healthz", { "X-Request-Id": "n999" })}` });
    expect(await rawExchange({ port, bytes: requestText("GET /healthz") })).toMatch(/^HTTP\/1\.1 200 /);
    const ids = [...(await all).matchAll(/^x-request-id: n(\d+)/gim)].map(([, id]) => Number(id));
    expect(ids).toEqual(Array.from({ length: 1_000 }, (_, count) => count));
  });

  it("cannot send more than its share of writes that way", async () => {
    const { port, writes } = await payloadScene({ clock: manualClock() });
    const many = Array.from({ length: 200 }, () => `${post}Content-Length: 2\r\n\r\n{}`).join("");
    const answer = await rawExchange({ port, bytes: `${many}${requestText("GET /healthz")}` });
    const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses.filter((status) => status === "201")).toHaveLength(defaultServerLimits.writesPerMinute);
    expect(statuses.filter((status) => status === "429")).toHaveLength(200 - defaultServerLimits.writesPerMinute);
    expect(writes).toHaveLength(defaultServerLimits.writesPerMinute);
  });

  it("is refused beyond the number of connections there may be, and let in when others have gone", async () => {
    const { port } = await payloadScene({}, { limits: { connections: 3 } });
    const open = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const socket = connect({ port, host: "127.0.0.1" });
        socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        await once(socket, "data");
        return socket;
      }),
    );
    expect(await rawExchange({ port, bytes: requestText("GET /healthz") })).toBe("");
    for (const socket of open) socket.destroy();
    await expect.poll(() => rawExchange({ port, bytes: requestText("GET /healthz") })).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe("H04: a connection with bytes that can be read in two ways, or in none", () => {
  const get = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n";
  const refused: readonly (readonly [name: string, bytes: string, status: RegExp])[] = [
    ["headers of 20 kB", `${get}X-Long: ${"a".repeat(20_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
    ["10,000 headers", `${get}${"a: b\r\n".repeat(10_000)}\r\n`, /^HTTP\/1\.1 431 /],
    ["an address of 20 kB", `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, /^HTTP\/1\.1 431 /],
    ["a wish it cannot have", `${get}Connection: close\r\nExpect: miracles\r\n\r\n`, /^HTTP\/1\.1 417 /],
    ["a length and chunks", `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, /^HTTP\/1\.1 400 /],
    ["chunks and a length", `${post}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n`, /^HTTP\/1\.1 400 /],
    ["two lengths", `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, /^HTTP\/1\.1 400 /],
    ["a length of two numbers", `${post}Content-Length: 2, 2\r\n\r\n{}`, /^HTTP\/1\.1 400 /],
    ["a negative length", `${post}Content-Length: -1\r\n\r\n{}`, /^HTTP\/1\.1 400 /],
    ["chunks that are not the last coding", `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`, /^HTTP\/1\.1 400 /],
    ["a coding nobody knows", `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, /^HTTP\/1\.1 400 /],
    ["a chunk longer than all numbers", `${post}Transfer-Encoding: chunked\r\n\r\n${"f".repeat(17)}\r\n{`, /^HTTP\/1\.1 400 /],
    ["a chunk without a size", `${post}Transfer-Encoding: chunked\r\n\r\n-1\r\n{`, /^HTTP\/1\.1 400 /],
    [
      "chunk extensions without end",
      `${post}Transfer-Encoding: chunked\r\n\r\n1;${"a".repeat(20_000)}\r\n{`,
      /^HTTP\/1\.1 413 |^HTTP\/1\.1 431 |^HTTP\/1\.1 400 /,
    ],
    ["a folded header", `${get}X-A: b\r\n c: d\r\n\r\n`, /^HTTP\/1\.1 400 /],
    ["a space before the colon", `${get}Content-Length : 2\r\n\r\n`, /^HTTP\/1\.1 400 /],
    ["a line break of its own in a header", `${get}X-A: b\rSet-Cookie: a=b\r\n\r\n`, /^HTTP\/1\.1 400 /],
    ["a NUL in a header", `${get}X-A: \0\r\n\r\n`, /^HTTP\/1\.1 400 /],
    ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", /^HTTP\/1\.1 400 |^$/],
    ["TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", /^HTTP\/1\.1 400 /],
    ["no host", "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", /^HTTP\/1\.1 400 /],
    ["a tunnel", "CONNECT evil.com:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", /^$|^HTTP\/1\.1 4\d\d /],
  ];

  it.each(refused)("such as %s is refused and closed, without a word about why", async (_, bytes, status) => {
    const { port, writes } = await payloadScene();
    const answer = await rawExchange({ port, bytes });
    expect(answer).toMatch(status);
    expect(answer).not.toMatch(/HPE_|node:internal|\bat .*:\d+:\d+|x-powered-by/i);
    expect(writes).toEqual([]);
    expect(await rawExchange({ port, bytes: requestText("GET /healthz") })).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("such as a chunk of four gigabytes is read to the limit and closed", async () => {
    const { port, writes } = await payloadScene({ limits: { bodyBytes: 100_000 } });
    let sent = (): number => 0;
    const answer = await rawExchange({
      port,
      bytes: `${post}Transfer-Encoding: chunked\r\n\r\nffffffff\r\n{`,
      meanwhile: (socket) => {
        sent = pour(socket, endless.repeat(1_000));
      },
    });
    // A reset may overtake the answer.
    expect(answer === "" || answer.startsWith("HTTP/1.1 413 ")).toBe(true);
    expect(sent()).toBeLessThan(64 * 1024 * 1024);
    expect(writes).toEqual([]);
  });

  it("such as a request inside a body is not taken for a second one", async () => {
    const { port, writes } = await payloadScene();
    const inner = requestText("POST /api/sessions", json, '{"id":"smuggled"}');
    const answer = await rawExchange({ port, bytes: requestText("POST /api/sessions", json, inner) });
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(writes).toEqual([]);
  });

  it("such as an announced body gets `100 Continue`, and is then read", async () => {
    const { port } = await payloadScene();
    const answer = await rawExchange({
      port,
      bytes: `${post}Connection: close\r\nExpect: 100-continue\r\nContent-Length: 13\r\n\r\n`,
      meanwhile: (socket) => void socket.once("data", () => socket.write('{"id":"late"}')),
    });
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
  });
});
