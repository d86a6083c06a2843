import { describe, expect, it } from "vitest";
import {
  createSession,
  type DurableEvent,
  execute,
  type Fact,
  type FactDraft,
  factVersion,
  foldSession,
  readHistory,
} from "../src/index.ts";
import type { SessionStore } from "../src/ports/index.ts";
import { calm, type World, world } from "./harness.ts";

const ref = { scope: "local", session: "s1" };
const tooNew = { code: "SESSION_TOO_NEW" };

/** What a newer version might write: a kind that is unknown here, or one that is known in a later version. */
const newerFacts: { readonly [what: string]: { readonly type: string; readonly v: number } } = {
  "a kind of fact that is unknown": { type: "agent.dreamt", v: factVersion },
  "a newer version of a fact": { type: "session.changed", v: factVersion + 1 },
};
const kinds = Object.keys(newerFacts);

async function append(store: SessionStore, facts: readonly object[]): Promise<void> {
  const { lastSeq } = await store.log.head(ref);
  const outcome = await store.log.append(ref, { expectedSeq: lastSeq, batchId: `n${lastSeq}`, facts: facts as readonly FactDraft[] });
  expect(outcome.type).toBe("ok");
}

/** Two answers, then a newer version, then facts that would be understood if that were not between. */
async function goneOnWith(what: string): Promise<World & { readonly before: readonly Fact[]; readonly all: readonly Fact[] }> {
  const made = world(() => ({ text: "yes" }));
  await execute(made.session, "one").result();
  await execute(made.session, "two").result();
  const before = await made.facts();
  await made.session[Symbol.asyncDispose]();
  await append(made.store, [
    { at: 5, ...newerFacts[what], title: "dream" },
    { at: 6, v: factVersion, type: "session.changed", title: "after it" },
  ]);
  return { ...made, before, all: await made.facts() };
}

async function historyOf(store: SessionStore): Promise<readonly DurableEvent[]> {
  const events: DurableEvent[] = [];
  for await (const batch of readHistory(store, ref)) events.push(...batch);
  return events;
}

describe.each(kinds)("a session that holds %s", (what) => {
  it("shows everything before it, and that it can only be read", async () => {
    const { again, before } = await goneOnWith(what);
    const session = await again().ready();
    expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(session.isReadOnly).toBe(true);
    expect(session.isResting).toBe(true);
    expect(session.dueAt).toBeNull();
    expect(session.lastSeq).toBe(before.length);
    expect(session.title).toBeUndefined();
    expect(session.snapshot()).toMatchObject({ readOnly: true, messages: { length: 4 } });
  });

  it("shows what happened before it", async () => {
    const { again, store, before } = await goneOnWith(what);
    const events = await historyOf(store);
    expect(events.at(-1)).toMatchObject({ type: "run_end", seq: before.length });
    const published: string[] = [];
    let lost: unknown;
    const session = again();
    const stop = session.follow({
      events: (news) => void published.push(...news.map(({ type }) => type)),
      lost: (error) => (lost = error),
    });
    await calm();
    expect({ published, lost, isReadOnly: session.isReadOnly }).toEqual({ published: [], lost: undefined, isReadOnly: true });
    stop();
  });

  it("refuses everything that would be recorded, and its log stays as it is", async () => {
    const { again, provider, facts, all, store } = await goneOnWith(what);
    const session = again();
    await expect(execute(session, "three").result()).rejects.toMatchObject(tooNew);
    await expect(session.submit("three")).rejects.toMatchObject(tooNew);
    await expect(session.change({ title: "mine" })).rejects.toMatchObject(tooNew);
    await expect(session.moveHead(null)).rejects.toMatchObject(tooNew);
    await expect(session.abort()).rejects.toMatchObject(tooNew);
    await expect(session.end()).rejects.toMatchObject(tooNew);
    const watcher = again({ drives: false });
    await expect(watcher.submit("four")).rejects.toMatchObject(tooNew);
    await calm();
    expect(await facts()).toEqual(all);
    expect((await store.log.head(ref)).lease).toBeUndefined();
    expect(provider.requests).toHaveLength(2);
    expect(session.messages).toHaveLength(4);
  });

  it("is released with its run by the owner that meets it, and reported to the callers that wait for it", async () => {
    const made = world([{ text: "half", hang: true }]);
    const result = execute(made.session, "one").result();
    await calm();
    expect(made.session.isOwner).toBe(true);
    await append(made.store, [{ at: 5, ...newerFacts[what] }]);
    const all = await made.facts();
    await expect(result).rejects.toMatchObject(tooNew);
    await calm();
    expect(made.session.isOwner).toBe(false);
    expect((await made.store.log.head(ref)).lease).toBeUndefined();
    made.clock.advance(60_000);
    await calm();
    expect(await made.facts()).toEqual(all);
    expect(made.session.snapshot()).toMatchObject({ readOnly: true, status: "running" });
  });

  it("is no session of fewer facts for code that folds the log by itself", async () => {
    const { store, all } = await goneOnWith(what);
    const folded = foldSession(ref, store.blobs);
    await expect(folded.add(all)).rejects.toMatchObject(tooNew);
    expect(folded.seq).toBe(0);
  });
});

it("a session whose first fact is of a newer version is empty and read-only, not new", async () => {
  const { agent, store, clock, facts } = world([]);
  await append(store, [{ at: 5, v: factVersion + 1, type: "session.opened", agent: "newer" }]);
  const session = createSession({ agent, store, clock, id: "s1" });
  await expect(session.open()).rejects.toMatchObject(tooNew);
  await expect(execute(session, "hi").result()).rejects.toMatchObject(tooNew);
  expect(session.isReadOnly).toBe(true);
  expect(await facts()).toHaveLength(1);
});

it("a session with a gap is not opened at all", async () => {
  const made = await goneOnWith(kinds[0] as string);
  const log: SessionStore["log"] = {
    ...made.store.log,
    read: async (...args) => (await made.store.log.read(...args)).filter(({ seq }) => seq !== 3),
  };
  await expect(made.again({ store: { ...made.store, log } }).ready()).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
});
