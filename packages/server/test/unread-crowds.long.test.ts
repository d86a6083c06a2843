import { spawn } from "node:child_process";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { defaultServerLimits } from "../src/server-limits.ts";

const { streamQueueBytes } = defaultServerLimits;
/** Of each caller: what may be queued, the page of history of which the next piece is made, and what the connection and its request take. */
const callerBytes = streamQueueBytes + 512 * 1024 + 256 * 1024;
/** What a process may have taken from the system beside what it holds: garbage that it has not given back. */
const garbageBytes = 256 * 1024 * 1024;

interface Memory {
  readonly heldBytes: number;
  readonly residentBytes: number;
}

/** A server in a process of its own with a session of 18 MB: `large-session-program.ts`. */
async function largeSession(queueBytes: number = streamQueueBytes): Promise<{ readonly url: URL; memory(): Promise<Memory> }> {
  const program = fileURLToPath(new URL("large-session-program.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=@loopwright/source", "--no-warnings", program, String(queueBytes)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => String((await lines.next()).value);
  const url = new URL(await line());
  return {
    url,
    async memory() {
      child.stdin.write("\n");
      return JSON.parse(await line());
    },
  };
}

/** A connection that asks, gets the beginning of the answer, and reads nothing more. */
async function deaf({ hostname, port, host }: URL, path: string, accept: string): Promise<Socket> {
  let hasBegun = (_: string): void => {};
  const begun = new Promise<string>((resolve) => {
    hasBegun = resolve;
  });
  const buffer = Buffer.alloc(64);
  const callback = (length: number): boolean => {
    hasBegun(buffer.toString("latin1", 0, length));
    return false;
  };
  const socket = connect({ host: hostname, port: Number(port), onread: { buffer, callback } });
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: ${accept}\r\n\r\n`);
  expect(await begun).toMatch(/^HTTP\/1\.1 200 /);
  return socket;
}

const json = "application/json";
const stream = "text/event-stream";
const events = "/api/sessions/a/events";

/** By how much the memory of a server grows with callers that do not read, which answers others meanwhile. */
async function growthBy(callers: number, [path, accept]: readonly [string, string], queueBytes?: number): Promise<Memory> {
  const { url, memory } = await largeSession(queueBytes);
  // What is loaded once for all callers is not theirs.
  await (await fetch(new URL("/api/sessions/a", url))).arrayBuffer();
  const before = await memory();
  const sockets: Socket[] = [];
  for (let count = 0; count < callers; count++) sockets.push(await deaf(url, path, accept));
  // While none of them has been read.
  expect(await (await fetch(new URL("/healthz", url))).json()).toEqual({ status: "ok" });
  const after = await memory();
  expect(sockets.every(({ closed }) => !closed)).toBe(true);
  return { heldBytes: after.heldBytes - before.heldBytes, residentBytes: after.residentBytes - before.residentBytes };
}

describe("of a session of 18 MB a server queues at most 1 MiB for each caller, and answers `/healthz` meanwhile:", () => {
  it.each([
    ["100 unread answers with the session", 100, ["/api/sessions/a", json]],
    ["100 unread answers with its conversation", 100, ["/api/agent/session/a", json]],
    ["100 unread answers with its events as JSON", 100, [events, json]],
    ["49 unread streams of its events from the start", 49, [`${events}?after=`, stream]],
    ["49 unread streams of its events from now on", 49, [`${events}?from=now`, stream]],
  ] as const)("%s", { timeout: 300_000 }, async (_, callers, answer) => {
    const { heldBytes, residentBytes } = await growthBy(callers, answer);
    expect(heldBytes).toBeLessThan(callers * callerBytes);
    expect(residentBytes).toBeLessThan(callers * callerBytes + garbageBytes);
  });
});

it("the suite notices that a server queues more than 1 MiB", { timeout: 300_000 }, async () => {
  const callers = 8;
  const { heldBytes } = await growthBy(callers, [`${events}?from=now`, stream], 1024 * 1024 * 1024);
  expect(heldBytes).toBeGreaterThan(callers * callerBytes);
});
