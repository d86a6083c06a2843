import { createSession, execute } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { expect, it } from "vitest";
import { scriptedAgent, type TestServer, testServer } from "./test-server.ts";

const ref = { scope: "local", session: "a" };

/** Holds back all reads of more than one fact, while there is something to wait for. */
interface Gate {
  open?: Promise<void>;
}

/** A session of so many runs that another process has left, and a server that has not seen it. */
async function afterRestart(
  runs: number,
): Promise<{ readonly server: TestServer; readonly reads: number[]; readonly lastSeq: number; readonly gate: Gate }> {
  const real = memoryStore();
  const agent = scriptedAgent();
  const session = createSession({ agent, store: real, id: ref.session, access: { user: "local", scope: ref.scope } });
  for (let run = 0; run < runs; run++) await execute(session, `Question ${run}`).result();
  await session[Symbol.asyncDispose]();
  const reads: number[] = [];
  const gate: Gate = {};
  const read: SessionStore["log"]["read"] = async (of, range) => {
    if (range?.limit !== 1) await gate.open;
    const facts = await real.log.read(of, range);
    reads.push(facts.length);
    return facts;
  };
  const server = testServer({ agents: [agent], store: { ...real, log: { ...real.log, read } } });
  const { lastSeq } = await real.log.head(ref);
  return { server, reads, lastSeq, gate };
}

it.each([
  ["is read whole", 5],
  ["begins with a snapshot", 60],
])("readers that missed nothing cost no read of the log, also after a restart: a log that %s", async (_, runs) => {
  const { server, reads, lastSeq } = await afterRestart(runs);
  await server.send("/api/sessions/a");
  expect(reads.reduce((sum, count) => sum + count)).toBeGreaterThan(0);
  reads.length = 0;
  const cursor = `${lastSeq}.0`;
  const readers = await Promise.all(Array.from({ length: 20 }, () => server.send(`/api/sessions/a/events?after=${cursor}`)));
  for (const reader of readers) {
    const stream = (reader.body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("event: rest")) text += (await stream.read()).value ?? "";
    expect(text).not.toContain("id: ");
    await stream.cancel();
  }
  expect((await server.send("/api/sessions/a/events", { headers: { "Last-Event-ID": cursor } })).status).toBe(204);
  expect(reads).toEqual([]);
  // A reader that did miss something gets it.
  const missed = await (await server.send("/api/sessions/a/events", { headers: { "Last-Event-ID": `${lastSeq - 1}.9` } })).text();
  expect([...missed.matchAll(/^id: (.*)$/gm)].map(([, id]) => id)).toEqual([cursor]);
  await server.server.close();
});

it("the first readers of a process that has just begun cost what loading the session costs, once", async () => {
  const loading = await afterRestart(60);
  await loading.server.send("/api/sessions/a");
  const loaded = loading.reads.filter((count) => count > 0);
  await loading.server.server.close();
  const { server, reads, lastSeq } = await afterRestart(60);
  const headers = { "Last-Event-ID": `${lastSeq}.0` };
  const answers = await Promise.all(Array.from({ length: 20 }, () => server.send("/api/sessions/a/events", { headers })));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 204));
  expect(reads.filter((count) => count > 0)).toEqual(loaded);
  await server.server.close();
});

it("20 readers that missed the same after a restart cost one read of it", async () => {
  const { server, reads, lastSeq, gate } = await afterRestart(100);
  await server.send("/api/sessions/a");
  reads.length = 0;
  const from = 100;
  const range = { headers: { "Last-Event-ID": `${from}.9` } };
  let open = (): void => {};
  gate.open = new Promise((resolve) => {
    open = resolve;
  });
  const readers = await Promise.all(Array.from({ length: 20 }, () => server.send("/api/sessions/a/events", range)));
  open();
  const written = await Promise.all(readers.map((reader) => reader.text()));
  const seqs = [...(written[0] ?? "").matchAll(/^id: (\d+)\./gm)].map(([, seq]) => Number(seq));
  expect([Math.min(...seqs), seqs.at(-1)]).toEqual([from + 1, lastSeq]);
  expect(new Set(written.map((text) => text.replaceAll(/^retry: \d+$/gm, "")))).toHaveLength(1);
  // A little more than the range: it begins where the answer began that was being written at the readers' place.
  expect(reads.reduce((sum, count) => sum + count)).toBeLessThan(lastSeq - from + 128);
  await server.server.close();
});
