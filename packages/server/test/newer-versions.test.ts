import { type FactDraft, factVersion } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import type { SessionSnapshot } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { type TestServer, testServer } from "./test-server.ts";

const ref = { scope: "local", session: "told" };

/** A session of one answer with which a newer version has gone on, on a server that has not loaded it. */
async function serverWithNewer(): Promise<TestServer & { lastSeq(): Promise<number> }> {
  const store = memoryStore();
  const older = testServer({ store });
  const notified = await older.send("/api/agent/execute", { json: { sessionId: "told", agent: "helper", input: "Hi.", context: {} } });
  await notified.text();
  await older.server.close();
  const { lastSeq } = await store.log.head(ref);
  const dreamt = { type: "agent.dreamt", at: 1, v: factVersion } as { readonly type: string } as FactDraft;
  await store.log.append(ref, { expectedSeq: lastSeq, batchId: "newer", facts: [dreamt], due: 0 });
  return { ...testServer({ store }), lastSeq: async () => (await store.log.head(ref)).lastSeq };
}

it("a session that a newer version has continued is shown and streamed up to that point, and refuses writes", async () => {
  const { ask, send, refused, server, lastSeq } = await serverWithNewer();
  const before = await lastSeq();
  const { status, body } = await ask<SessionSnapshot>("/api/sessions/told");
  expect(status).toBe(200);
  expect(body).toMatchObject({ readOnly: true, messages: [{ message: { role: "user" } }, { message: { role: "assistant" } }] });
  const events = await (await send("/api/sessions/told/events?after=0.0", { headers: { Accept: "application/json" } })).text();
  expect(events).toContain("run_end");
  expect(await refused("/api/sessions/told/messages", { json: { message: "And?" } })).toMatchObject({
    status: 409,
    code: "SESSION_TOO_NEW",
  });
  expect(await refused("/api/sessions/told", { method: "PATCH", json: { title: "Mine" } })).toMatchObject({ code: "SESSION_TOO_NEW" });
  expect(await lastSeq()).toBe(before);
  await server.close();
});

it("a stream of such a session ends where this version understands it no more", async () => {
  const { send, server } = await serverWithNewer();
  const answer = await send("/api/sessions/told/events", { headers: { Accept: "text/event-stream" } });
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  let text = "";
  while (!text.includes("event: rest")) {
    const { done, value } = await reader.read();
    if (done) break;
    text += new TextDecoder().decode(value);
  }
  await reader.cancel();
  expect(text).toContain("event: run_end");
  expect(text).toContain("event: rest");
  await server.close();
});
