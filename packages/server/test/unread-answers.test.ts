import { get } from "node:http";
import { connect, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createSession, execute } from "@loopwright/core";
import { manualClock, memoryStore } from "@loopwright/core/memory";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Listening, listen } from "../src/node/listen.ts";
import { defaultServerLimits } from "../src/server-limits.ts";
import { scriptedAgent, type TestServer, testServer } from "./test-server.ts";

const callers = 16;
const messageBytes = 200_000;
const messages = 30;
/** Of every caller together: what a queue may hold, and what the connection and its request take. */
const mostBytes = callers * (defaultServerLimits.streamQueueBytes + 256 * 1024);

let server: TestServer;
let listening: Listening;
const sockets: Socket[] = [];

beforeAll(async () => {
  const agent = scriptedAgent();
  const store = memoryStore();
  const session = createSession({ agent, store, id: "a", access: { user: "local", scope: "local" } });
  for (let count = 0; count < messages; count++) await execute(session, `${count} ${"x".repeat(messageBytes)}`).result();
  await session[Symbol.asyncDispose]();
  const script = { bytes: new Uint8Array(8_000_000), mediaType: "text/javascript" };
  const page = async (path: string) => (path === "large.js" ? script : undefined);
  server = testServer({ agents: [agent], store, page });
  listening = await listen(server.server);
});

afterAll(async () => {
  await server.server.close();
  await listening.close();
});

/** What this process holds once all that is unused was let go of. */
function heldBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** A connection that asks, waits for the head of the answer, and reads nothing more. */
async function deaf(path: string, accept: string): Promise<void> {
  const { port } = new URL(listening.url);
  const begun = Promise.withResolvers<void>();
  const callback = (): boolean => {
    begun.resolve();
    return false;
  };
  const socket = connect({ host: "127.0.0.1", port: Number(port), onread: { buffer: Buffer.alloc(64), callback } });
  sockets.push(socket);
  socket.on("error", () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: ${accept}\r\n\r\n`);
  await begun.promise;
}

/** On a connection of its own. */
const whole = (path: string, accept: string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const request = get(new URL(path, listening.url), { agent: false, headers: { accept } }, async (response) => {
      const pieces: Buffer[] = [];
      for await (const piece of response) pieces.push(piece as Buffer);
      resolve(Buffer.concat(pieces));
    });
    request.on("error", reject);
  });

const json = "application/json";
const stream = "text/event-stream";

describe("an answer that sixteen callers ask for and do not read", () => {
  it.each([
    ["a session", "/api/sessions/a", json],
    ["a conversation", "/api/agent/session/a", json],
    ["the events of a session as JSON", "/api/sessions/a/events", json],
    ["the events of a session from the start", "/api/sessions/a/events?after=", stream],
    ["the events of a session from now on", "/api/sessions/a/events?from=now", stream],
    ["a file of the page", "/large.js", "*/*"],
  ] as const)("costs at most 1 MiB each: %s", async (_, path, accept) => {
    // What is loaded once for all is not theirs.
    await whole(accept === stream ? "/api/sessions/a/events" : path, accept);
    const before = heldBytes();
    for (let count = 0; count < callers; count++) await deaf(path, accept);
    expect(`${await whole("/healthz", json)}`).toBe('{"status":"ok"}');
    const held = heldBytes() - before;
    for (const socket of sockets.splice(0)) socket.destroy();
    expect(held).toBeLessThan(mostBytes);
  });
});

describe("files that are not read", () => {
  it("are 32 MiB at most of one caller, the next is refused with 503, and there is room again when they were given up", async () => {
    const uploaded = await server.ask<{ blob: string }>("/api/files", {
      body: new Uint8Array(9_000_000),
      headers: { "Content-Type": "application/octet-stream" },
    });
    const path = `/api/files/${uploaded.body.blob}`;
    for (let count = 0; count < callers; count++) await deaf(path, "*/*");
    const problem = await server.refused(path);
    expect(problem).toMatchObject({ status: 503, code: "CONNECTION_LIMIT", retryable: true });
    expect(problem.detail).toContain("32 MiB");
    for (const socket of sockets.splice(0)) socket.destroy();
    await expect.poll(async () => (await server.send(path, { method: "HEAD" })).status).toBe(200);
    await expect.poll(async () => (await whole(path, "*/*")).byteLength).toBe(9_000_000);
  });

  it("of a caller that keeps the connection open and reads nothing count for half a minute", async () => {
    const clock = manualClock();
    const { ask, send } = testServer({ clock, limits: { sentFileBytesPerPrincipal: 100_000 } });
    const { body } = await ask<{ blob: string }>("/api/files", {
      body: new Uint8Array(90_000),
      headers: { "Content-Type": "application/octet-stream" },
    });
    const path = `/api/files/${body.blob}`;
    const first = await send(path);
    expect((await send(path)).status).toBe(503);
    clock.advance(defaultServerLimits.streamStallMs);
    expect((await (await send(path)).arrayBuffer()).byteLength).toBe(90_000);
    await expect(first.arrayBuffer()).rejects.toThrow("The client read nothing for 30000 ms.");
  });
});

describe("a long answer", () => {
  it("has the same content piece by piece as in one go", async () => {
    const snapshot = JSON.parse(`${await whole("/api/sessions/a", json)}`);
    expect(snapshot.messages).toHaveLength(2 * messages);
    expect(snapshot.messages[0].message.content === `0 ${"x".repeat(messageBytes)}`).toBe(true);
    const history = `${await whole("/api/sessions/a/events", stream)}`.split("\n\n");
    expect(history.filter((frame) => frame.includes("event: message_end"))).toHaveLength(2 * messages);
    const now = await fetch(new URL("/api/sessions/a/events?from=now", listening.url));
    let text = "";
    for await (const piece of (now.body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(new TextDecoderStream())) {
      text += piece;
      if (text.includes("event: rest")) break;
    }
    const data = JSON.parse(/event: session_snapshot\ndata: (.*)\n\nevent: rest/.exec(text)?.[1] ?? "{}");
    expect(JSON.stringify(data) === JSON.stringify({ type: "session_snapshot", snapshot })).toBe(true);
  });
});
