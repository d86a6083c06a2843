/*
 * What a test runs as a process of its own: a server over one session of 18 MB. It prints its address; then, for each line that it reads, what memory
 * it holds. Argument: bytes that may be queued for a stream.
 */
import { createInterface } from "node:readline";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createSession, execute } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import { turnOfLoop } from "../../host/test/turn-of-loop.ts";
import { listen } from "../src/node/listen.ts";
import { scriptedAgent, testServer } from "./test-server.ts";

const messageBytes = 200_000;
const messages = 90;
const hourMs = 3_600_000;

const agent = scriptedAgent();
const store = memoryStore();
const session = createSession({ agent, store, id: "a", access: { user: "local", scope: "local" } });
for (let count = 0; count < messages; count++) await execute(session, `${count} ${"x".repeat(messageBytes)}`).result();
await session[Symbol.asyncDispose]();

// However slow the machine is, no connection is cut before its memory was measured.
const streamQueueBytes = Number(process.argv[2]);
const { server } = testServer({ agents: [agent], store, limits: { streamStallMs: hourMs, pingMs: hourMs, streamQueueBytes } });
const { url } = await listen(server, { limits: { silentMs: hourMs } });
process.stdout.write(`${url}\n`);

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
for await (const _ of createInterface({ input: process.stdin })) {
  // What is to be written without waiting for a reader is written by then.
  for (let turn = 0; turn < 1_000; turn++) await turnOfLoop();
  collect();
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  process.stdout.write(`${JSON.stringify({ heldBytes: heapUsed + external, residentBytes: rss })}\n`);
}
process.exit(0);
