import { createAgent, createSession, execute } from "@loopwright/core";
import { manualClock, memoryStore, scripted } from "@loopwright/core/memory";
import type { AppendRequest, SessionRef, SessionStore } from "@loopwright/core/ports";
import { expect, it, onTestFinished } from "vitest";
import { type ConversationView, type ViewPlace, withConversationViews } from "../src/index.ts";

const ref: SessionRef = { scope: "local", session: "first" };
const keyOf = (session: string): string => `_platform/ai-conversations/local/${session}.json`;

/** A place in memory, and a store over it. */
function fresh({
  place: given,
  store: inner = memoryStore(),
}: {
  readonly place?: Partial<ViewPlace>;
  readonly store?: SessionStore;
} = {}) {
  const objects = new Map<string, string>();
  const clock = manualClock();
  const written: number[] = [];
  const place: ViewPlace = {
    async put(key, bytes, options) {
      expect(options).toEqual({ mediaType: "application/json", isDurable: false, isPlain: true });
      written.push(clock.monotonic());
      objects.set(key, new TextDecoder().decode(bytes));
    },
    async remove(key) {
      objects.delete(key);
    },
    ...given,
  };
  const store = withConversationViews(inner, { place, clock });
  onTestFinished(() => store.close());
  const viewOf = (session: string): ConversationView => JSON.parse(objects.get(keyOf(session)) ?? "null");
  return { objects, clock, written, place, store, inner, viewOf };
}

function noteBatch(batchId: string, expectedSeq: number): AppendRequest {
  return { batchId, expectedSeq, facts: [{ type: "session.changed", title: batchId, at: 1, v: 1 }] };
}

function helper() {
  return createAgent({ name: "helper", provider: scripted([{ text: "Red ones." }, { text: "Green too." }]) });
}

it("A29: after one answered message exactly one view exists, under the key of the session, and parses", async () => {
  const { inner, objects, store, viewOf } = fresh();
  const session = createSession({ agent: helper(), id: "apples", store });
  expect((await execute(session, "Which apples?").result()).status).toBe("completed");
  await store.close();
  expect([...objects.keys()]).toEqual([keyOf("apples")]);
  expect(viewOf("apples")).toMatchObject({
    format: 1,
    id: "apples",
    scope: "local",
    agent: "helper",
    status: "idle",
    lastRun: { status: "completed" },
    messages: [
      { id: expect.any(String), at: expect.any(Number), role: "user", content: "Which apples?" },
      { role: "assistant", content: [{ type: "text", text: "Red ones." }] },
    ],
  });
  expect(viewOf("apples").lastSeq).toBe((await inner.log.head({ scope: "local", session: "apples" })).lastSeq);
});

it("no view is written while a run is open, and one when it waits for a client", async () => {
  const { written, store, viewOf } = fresh();
  const provider = scripted([{ calls: [{ name: "pick" }] }, { text: "Thank you." }]);
  const pick = { name: "pick", description: "Picks.", parameters: { type: "object" as const } };
  const session = createSession({ agent: createAgent({ name: "helper", provider, tools: [pick] }), id: "apples", store });
  await execute(session, "Pick one.").result();
  await expect.poll(() => written.length).toBe(1);
  expect(viewOf("apples")).toMatchObject({ status: "waiting", messages: [{ role: "user" }, { role: "assistant" }] });
});

it("A29: deleting the view loses nothing: a later process continues the conversation, and the next rest writes the view anew", async () => {
  const { objects, inner, place, store, viewOf } = fresh();
  await execute(createSession({ agent: helper(), id: "apples", store }), "Which apples?").result();
  await expect.poll(() => objects.size).toBe(1);
  objects.clear();
  const later = withConversationViews(inner, { place });
  const session = createSession({ agent: helper(), id: "apples", store: later });
  await session.ready();
  expect(session.snapshot().messages.length).toBe(2);
  await execute(session, "And which else?").result();
  await later.close();
  expect(viewOf("apples").messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
});

it("the view is deleted with its session, before the log: a removal that fails midway leaves no view of a removed session", async () => {
  const inner = memoryStore();
  const { objects, store } = fresh({
    store: { ...inner, log: { ...inner.log, remove: () => Promise.reject(new Error("The process ends.")) } },
  });
  await store.log.append(ref, noteBatch("b0", 0));
  await expect.poll(() => objects.size).toBe(1);
  await expect(store.log.remove(ref)).rejects.toThrow("The process ends.");
  expect(objects.size).toBe(0);
});

it("a view that is written while another process removes the session is deleted again", async () => {
  const { inner, objects, store } = fresh({
    place: {
      async put(key, bytes) {
        await inner.log.remove(ref);
        objects.set(key, new TextDecoder().decode(bytes));
      },
    },
  });
  await store.log.append(ref, noteBatch("b0", 0));
  await store.close();
  expect([...objects.keys()]).toEqual([]);
});

it("a session that changes ten times in a second is written down twice: at once, and when the second is over", async () => {
  const { clock, written, store, viewOf } = fresh();
  for (let seq = 0; seq < 10; seq++) {
    await store.log.append(ref, noteBatch(`b${seq}`, seq));
    clock.advance(50);
  }
  await expect.poll(() => written.length).toBe(1);
  clock.advance(499);
  expect(clock.pending).toBe(1);
  clock.advance(1);
  await expect.poll(() => written.length).toBe(2);
  await store.close();
  expect(written).toEqual([expect.any(Number), 1_000]);
  expect(viewOf("first")).toMatchObject({ lastSeq: 10, title: "b9" });
});

it("closing the store writes at once what waits for its time", async () => {
  const { written, store, viewOf } = fresh();
  for (let seq = 0; seq < 3; seq++) await store.log.append(ref, noteBatch(`b${seq}`, seq));
  await store.close();
  expect(written).toHaveLength(2);
  expect(viewOf("first")).toMatchObject({ lastSeq: 3 });
});

it("a view that cannot be written disturbs no append, and the next rest writes it", async () => {
  let isBroken = true;
  const { clock, objects, store, viewOf } = fresh({
    place: {
      async put(key, bytes) {
        if (isBroken) throw new Error("The disk is full.");
        objects.set(key, new TextDecoder().decode(bytes));
      },
    },
  });
  expect((await store.log.append(ref, noteBatch("b0", 0))).type).toBe("ok");
  clock.advance(1_000);
  isBroken = false;
  await store.log.append(ref, noteBatch("b1", 1));
  await expect.poll(() => viewOf("first")?.lastSeq).toBe(2);
});

it("a view holds the newest messages and the number of those left out; more conversations than are kept in memory are written", async () => {
  const { store, viewOf } = fresh();
  const context = Array.from({ length: 1_005 }, (_, at) => ({ role: "user" as const, content: `${at}` }));
  await store.log.append(ref, { batchId: "b", expectedSeq: 0, facts: [{ type: "session.opened", agent: "a", context, at: 1, v: 1 }] });
  const sessions = Array.from({ length: 35 }, (_, at) => `s${at}`);
  for (const session of sessions) await store.log.append({ scope: "local", session }, noteBatch("b", 0));
  for (const session of sessions) await store.log.append({ scope: "local", session }, noteBatch("c", 1));
  await store.close();
  const view = viewOf("first");
  expect([view.messages.length, view.earlierCount, view.messages[0]?.role]).toEqual([1_000, 5, "user"]);
  expect(view.messages[0]).toMatchObject({ content: "5" });
  for (const session of sessions) expect(viewOf(session).lastSeq).toBe(2);
});
