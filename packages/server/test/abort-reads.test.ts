import { AgentError, createSession, execute } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { expect, it } from "vitest";
import { eventsOf, scriptedAgent, type TestServer, testServer } from "./test-server.ts";

const ref = { scope: "local", session: "a" };
const runs = 40;

interface LongSession {
  readonly store: SessionStore;
  /** How many facts each read of the log gave. */
  readonly reads: number[];
  readonly lastSeq: number;
  /** The next note that is written over another one is lost with the store. */
  failOnce(): void;
}

/** A session of many runs the last of which does not end by itself. */
async function longSession(): Promise<LongSession> {
  const real = memoryStore();
  const session = createSession({ agent: scriptedAgent(), store: real, id: ref.session, access: { user: "local", scope: ref.scope } });
  for (let run = 0; run < runs; run++) await execute(session, `Question ${run}`).result();
  await session[Symbol.asyncDispose]();
  const reads: number[] = [];
  const read: SessionStore["log"]["read"] = async (of, range) => {
    const facts = await real.log.read(of, range);
    reads.push(facts.length);
    return facts;
  };
  let fails = false;
  const put: SessionStore["blobs"]["put"] = async (scope, key, blob) => {
    if (!fails || blob.ifAbsent) return real.blobs.put(scope, key, blob);
    fails = false;
    throw new AgentError("STORE_UNAVAILABLE", { message: "The disk is gone." });
  };
  const store = { ...real, log: { ...real.log, read }, blobs: { ...real.blobs, put } };
  const failOnce = (): void => {
    fails = true;
  };
  return { store, reads, lastSeq: (await real.log.head(ref)).lastSeq, failOnce };
}

async function openRun({ store }: LongSession): Promise<TestServer> {
  const server = testServer({ agents: [scriptedAgent([{ text: "On and on", hang: true }])], store });
  await server.ask("/api/sessions/a/messages", { json: { input: "Tell me" } });
  return server;
}

const abort = ({ ask }: TestServer) => ask("/api/sessions/a/abort", { json: {}, headers: { "Idempotency-Key": "stop" } });

it("an abort that is repeated under its key is answered from what is kept with the key: it reads no more than the last fact", async () => {
  const session = await longSession();
  const server = await openRun(session);
  expect((await abort(server)).body).toEqual({ aborting: true });
  expect(await eventsOf(server, "a")).toContain('"status":"aborted"');
  session.reads.length = 0;
  for (let time = 0; time < 3; time++) expect((await abort(server)).body).toEqual({ aborting: true });
  expect(Math.max(...session.reads)).toBe(1);
  await server.server.close();
});

it("an abort whose first answer was lost with the store reads only what followed it", async () => {
  const session = await longSession();
  const server = await openRun(session);
  session.failOnce();
  expect((await abort(server)).status).toBe(503);
  expect(await eventsOf(server, "a")).toContain('"status":"aborted"');
  session.reads.length = 0;
  expect((await abort(server)).body).toEqual({ aborting: true });
  const facts = session.reads.reduce((sum, count) => sum + count, 0);
  expect(facts).toBeGreaterThan(0);
  expect(facts).toBeLessThan(10);
  expect(session.lastSeq).toBeGreaterThan(150);
  await server.server.close();
});
