import { once } from "node:events";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { ServeOptions } from "../../test/serve.ts";
import { scriptedAgent, type TestServer, testServer } from "../../test/test-server.ts";
import { bearerTokens } from "../identity/fixed-bearer-tokens.ts";
import { type Listening, type ListenOptions, listen } from "./listen.ts";
import { staticFiles } from "./static-files.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Running extends TestServer {
  readonly listening: Listening;
  readonly port: number;
}

async function run(options: Partial<ServeOptions> = {}, how: ListenOptions = {}): Promise<Running> {
  const test = testServer(options);
  const listening = await listen(test.server, how);
  ends.push(async () => {
    await test.server.close();
    await listening.close();
  });
  return { ...test, listening, port: Number(new URL(listening.url).port) };
}

/** Sends bytes as they are and gives everything that comes back until the other side closes. */
async function raw(port: number, text: string, keepWriting?: (socket: Socket) => void): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  socket.setEncoding("latin1");
  socket.on("data", (piece) => {
    answer += piece;
  });
  socket.on("error", () => {}); // What was cut off is seen by what is missing.
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await once(socket, "connect");
  socket.write(text, "latin1");
  keepWriting?.(socket);
  await closed;
  return answer;
}

/** What every answer carries, from any route. */
function expectStandardHeaders(answer: string): void {
  for (const header of [
    /^x-content-type-options: nosniff$/im,
    /^x-frame-options: DENY$/im,
    /^referrer-policy: no-referrer$/im,
    /^cross-origin-resource-policy: same-origin$/im,
    /^content-security-policy: default-src 'none'/im,
    /^cache-control: no-store$/im,
    /^x-request-id: [a-z0-9-]{20,}$/im,
    /^date: /im,
  ])
    expect(answer.replaceAll("\r", "")).toMatch(header);
}

const host = "Host: localhost\r\n";
const close = "Connection: close\r\n";
const json = "Content-Type: application/json\r\n";

describe("a server that listens", () => {
  it("is on loopback, answers under its address, and streams as it happens", async () => {
    let go = (): void => {};
    const after = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { listening, server } = await run({ agents: [scriptedAgent([{ text: "First.", hang: false, after }])], basePath: "/agents" });
    expect(listening.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/agents$/);
    const response = await fetch(`${listening.url}/api/agent/execute`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ sessionId: "a", context: {}, input: "Hi" }),
    });
    expect(response.headers.get("Content-Type")).toBe("text/event-stream");
    expect(response.headers.get("X-Session-Id")).toBe("a");
    expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(response.headers.get("X-Request-Id")).toMatch(/./);
    const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("turn_start")) text += (await reader.read()).value ?? "";
    expect(text).not.toContain("First.");
    go();
    for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value;
    expect(text).toContain("First.");
    expect(text.trimEnd().split("\n").at(-2)).toBe("event: execute_complete");
    expect(server.ready()).toBe(true);
  });

  it("frees the place of a stream whose reader has gone", async () => {
    const { listening, ask } = await run();
    await ask("/api/sessions", { json: { id: "a" } });
    const gone = new AbortController();
    const response = await fetch(`${listening.url}/api/sessions/a/events?after=`, { signal: gone.signal });
    const clients = async () => /loopwright_sse_clients (\d+)/.exec(await (await fetch(`${listening.url}/metrics`)).text())?.[1];
    expect(response.status).toBe(200);
    expect(await clients()).toBe("1");
    gone.abort();
    await expect.poll(clients).toBe("0");
  });

  it("ends its streams and connections when it is closed", async () => {
    const { listening, server, ask, port } = await run();
    await ask("/api/sessions", { json: { id: "a" } });
    const stream = raw(port, `GET /api/sessions/a/events?from=now HTTP/1.1\r\n${host}\r\n`);
    const idle = raw(port, `GET /healthz HTTP/1.1\r\n${host}\r\n`);
    await expect.poll(async () => (await ask("/healthz")).status).toBe(200);
    await expect.poll(async () => (await (await fetch(`${listening.url}/metrics`)).text()).includes("loopwright_sse_clients 1")).toBe(true);
    await server.close();
    await listening.close();
    await listening.close();
    expect(await stream).toContain("session_snapshot");
    expect(await stream).toMatch(/0\r\n\r\n$/);
    expect(await idle).toContain("200 OK");
    await expect(fetch(`${listening.url}/healthz`)).rejects.toThrow();
  });

  it("does not listen for other machines unless callers must authenticate or open access is chosen", async () => {
    const { server } = testServer();
    for (const name of ["0.0.0.0", "::", "192.0.2.1"])
      await expect(listen(server, { host: name })).rejects.toMatchObject({
        code: "CONFIG_INVALID",
        fix: expect.stringContaining("authenticate"),
      });
    const authenticate = bearerTokens({ "0123456789abcdef": { user: "anne", scope: "team" } });
    const guarded = await run({ authenticate }, { host: "0.0.0.0" });
    expect(guarded.listening.url).toMatch(/^http:\/\/localhost:/);
    expect((await fetch(`http://127.0.0.1:${guarded.port}/api/agents`)).status).toBe(401);
    const open = await run({}, { host: "0.0.0.0", insecure: true });
    expect((await fetch(`http://127.0.0.1:${open.port}/api/agents`)).status).toBe(200);
  });

  it("reports an address that it cannot have", async () => {
    const { port, server } = await run();
    await expect(listen(server, { port })).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("is taken") });
    await expect(listen(server, { host: "192.0.2.1", insecure: true })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });
});

describe("a connection", () => {
  it("is refused with a status when it sends no HTTP, too much, or contradictory headers", async () => {
    const { port } = await run();
    const post = `POST /api/sessions HTTP/1.1\r\n${host}${json}`;
    const refused: readonly (readonly [string, RegExp])[] = [
      ["\x16\x03\x01\x02\x00\x01\r\n\r\n", /^HTTP\/1\.1 400 /],
      [`GET / HTTP/1.1\r\n${close}\r\n`, /^HTTP\/1\.1 400 /],
      [`GET /healthz HTTP/1.1\r\n${host}X-Long: ${"a".repeat(20_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
      [`${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, /^HTTP\/1\.1 400 /],
      [`${post}${close}Transfer-Encoding: chunked\r\n\r\nffffffff\r\n{`, /^HTTP\/1\.1 (400|408) /],
      [`GET /healthz HTTP/1.1\r\n${host}${close}Expect: miracles\r\n\r\n`, /^HTTP\/1\.1 417 /],
      [`GET /healthz HTTP/1.1\r\nHost: evil.com\r\n${close}\r\n`, /^HTTP\/1\.1 421 /],
      [`GET http://evil.com/healthz HTTP/1.1\r\n${host}${close}\r\n`, /^HTTP\/1\.1 421 /],
      [`GET /healthz HTTP/1.1\r\nHost: a b\r\n${close}\r\n`, /^HTTP\/1\.1 4\d\d /],
      ...["127.0.0.999", "127.0.0.1.1", "127.1", "[::1", "localhost:99999", "127.0.0.1:x", ""].map(
        (name) => [`GET /healthz HTTP/1.1\r\nHost: ${name}\r\n${close}\r\n`, /^HTTP\/1\.1 4\d\d /] as const,
      ),
    ];
    for (const [text, status] of refused) {
      const { port: own } = text.includes("ffffffff") ? await run({ limits: { bodyMs: 50 } }) : { port };
      const answer = await raw(own, text);
      expect(answer).toMatch(status);
      expect(answer).not.toMatch(/\bat .*:\d+:\d+|node:internal|X-Powered-By/i);
      expectStandardHeaders(answer);
    }
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  });

  it("is closed when its headers do not come in time", async () => {
    const { port } = await run({}, { limits: { headersMs: 40, requestMs: 80, checkMs: 20 } });
    const answer = await raw(port, `GET /healthz HTTP/1.1\r\n${host}X-Slow: a`);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expectStandardHeaders(answer);
  });

  it("is answered and closed when its body does not come in time, or is too long", async () => {
    const { port } = await run({ limits: { bodyMs: 40, bodyBytes: 10_000 } });
    const post = `POST /api/sessions HTTP/1.1\r\n${host}${json}`;
    const slow = await raw(port, `${post}Content-Length: 100\r\n\r\n{`);
    expect(slow).toMatch(/^HTTP\/1\.1 408 /);
    expect(slow).toContain("REQUEST_TIMEOUT");
    const get = await raw(port, `GET /healthz HTTP/1.1\r\n${host}Content-Length: 100\r\n\r\n{`);
    expect(get).toMatch(/^HTTP\/1\.1 200 /);
    const upload = await raw(port, `POST /api/files HTTP/1.1\r\n${host}Content-Type: image/png\r\nContent-Length: 100\r\n\r\n{`);
    expect(upload).toMatch(/^HTTP\/1\.1 408 /);
    const long = await raw(port, `${post}Content-Length: 1073741824\r\n\r\n{`);
    expect(long).toMatch(/^HTTP\/1\.1 413 /);
    const endless = await raw(port, `${post}Transfer-Encoding: chunked\r\n\r\n`, (socket) => {
      const piece = `${(4_000).toString(16)}\r\n${" ".repeat(4_000)}\r\n`;
      const pour = (): void => {
        while (!socket.destroyed && socket.write(piece));
      };
      socket.on("drain", pour);
      pour();
    });
    expect(endless === "" || endless.startsWith("HTTP/1.1 413 ")).toBe(true);
  });

  it("may carry many requests at once, each with its own answer in order", async () => {
    const { port } = await run();
    const many = Array.from({ length: 200 }, (_, count) => `GET /healthz HTTP/1.1\r\n${host}X-Request-Id: n${count}\r\n\r\n`).join("");
    const answer = await raw(port, `${many}GET /healthz HTTP/1.1\r\n${host}${close}X-Request-Id: n200\r\n\r\n`);
    const ids = [...answer.matchAll(/x-request-id: n(\d+)/gi)].map(([, id]) => Number(id));
    expect(ids).toEqual(Array.from({ length: 201 }, (_, count) => count));
  });
});

describe("static files", () => {
  it("are those of the directory, by name and type, and nothing outside it", async () => {
    const outer = await mkdtemp(join(tmpdir(), "loopwright-"));
    ends.push(() => rm(outer, { recursive: true }));
    const directory = join(outer, "page");
    await mkdir(join(directory, "assets"), { recursive: true });
    await mkdir(join(outer, "page-evil"));
    await writeFile(join(directory, "index.html"), "<p>start</p>");
    await writeFile(join(directory, "assets/app-B1aZne9g.js"), "1");
    await writeFile(join(outer, "secret.txt"), "secret");
    await writeFile(join(outer, "page-evil/secret.txt"), "secret");
    await symlink(join(outer, "secret.txt"), join(directory, "link.txt"));
    const page = staticFiles(directory);
    expect(await page("")).toMatchObject({ mediaType: "text/html; charset=utf-8", immutable: false });
    expect(await page("assets/app-B1aZne9g.js")).toMatchObject({ immutable: true });
    for (const path of [
      "../secret.txt",
      "assets/../../secret.txt",
      "../page-evil/secret.txt",
      "link.txt",
      "/etc/passwd",
      "assets",
      "a\0.txt",
      "..\\secret.txt",
    ])
      expect(await page(path)).toBeUndefined();
    const { port } = await run({ page });
    for (const path of ["/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/assets/..%5c..%5csecret.txt", "/link.txt"]) {
      const answer = await raw(port, `GET ${path} HTTP/1.1\r\n${host}${close}\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 404 /);
      expect(answer).not.toContain("secret\n");
    }
    expect(await raw(port, `GET /a/place HTTP/1.1\r\n${host}${close}Accept: text/html\r\n\r\n`)).toContain("<p>start</p>");
  });

  it("are compressed for callers that accept it, and unchanged for all others", async () => {
    const directory = await mkdtemp(join(tmpdir(), "loopwright-"));
    ends.push(() => rm(directory, { recursive: true }));
    const text = "<p>start</p>".repeat(500);
    await writeFile(join(directory, "index.html"), text);
    const { port } = await run({ page: staticFiles(directory) });
    const ask = (codings: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}/`, { headers: { "Accept-Encoding": codings, Accept: "text/html" } });
    const [small, plain, refused] = [await ask("br, gzip"), await ask("identity"), await ask("gzip;q=0")];
    expect(small.headers.get("Content-Encoding")).toBe("gzip");
    expect(Number(small.headers.get("Content-Length"))).toBeLessThan(text.length / 10);
    for (const answer of [plain, refused]) expect(answer.headers.get("Content-Encoding")).toBeNull();
    for (const answer of [small, plain, refused]) {
      expect(answer.headers.get("Vary")).toContain("Accept-Encoding");
      expect(await answer.text()).toBe(text);
    }
  });
});
