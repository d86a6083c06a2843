import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentError, createAgent, createSession, execute } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { removeWithChildren } from "@loopwright/core/stores";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createKnowledge,
  type Knowledge,
  memoryKnowledgeStore,
  sessionCollection,
  sqliteKnowledgeStore,
  withSessionDocuments,
} from "../src/index.ts";

const scope = "garden";
const canary = "The rhododendron canary";

/** A session with an answer. */
async function talkedIn(store: SessionStore, id: string): Promise<void> {
  const agent = createAgent({ name: "clerk", provider: scripted([{ text: "ok" }]) });
  const session = createSession({ agent, id, store, access: { user: "anne", scope } });
  await execute(session, "Hello.").result();
  await session[Symbol.asyncDispose]();
}

const attach = (knowledge: Knowledge, session: string, text: string) =>
  knowledge.add({ scope, collection: sessionCollection(session) }, { id: "notes", text });
const idsOf = async (knowledge: Knowledge, collection?: string): Promise<readonly string[]> =>
  (await knowledge.list({ scope, ...(collection === undefined ? {} : { collection }) })).map(({ id }) => id);
const ofSession = (knowledge: Knowledge, session: string): Promise<readonly string[]> => idsOf(knowledge, sessionCollection(session));

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "loopwright-knowledge-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

describe("what was attached to a session", () => {
  it("is erased with it, down to the bytes of the file, and what others have stays", async () => {
    const place = folder();
    const knowledge = createKnowledge({ store: sqliteKnowledgeStore({ path: join(place, "knowledge.db") }) });
    const store = withSessionDocuments(memoryStore(), knowledge);
    for (const id of ["s1", "s2"]) await talkedIn(store, id);
    await attach(knowledge, "s1", canary);
    await attach(knowledge, "s2", "Of the other session.");
    await knowledge.add({ scope }, { id: "atlas", text: "Of all sessions." });
    await removeWithChildren(store, { scope, session: "s1" });
    expect([await ofSession(knowledge, "s1"), await ofSession(knowledge, "s2"), await idsOf(knowledge)]).toEqual([
      [],
      ["notes"],
      ["atlas"],
    ]);
    await knowledge.close();
    const bytes = readdirSync(place).map((name) => readFileSync(join(place, name), "latin1").toLowerCase());
    expect(bytes.join()).not.toContain("rhododendron");
    expect(bytes.join()).toContain("of the other session.");
  });

  it("keeps the session where it cannot be erased: the erasure fails, and the next one completes it", async () => {
    const inner = memoryKnowledgeStore();
    let isDown = true;
    const knowledge = createKnowledge({
      store: {
        ...inner,
        async remove(...which) {
          if (isDown) throw new AgentError("STORE_UNAVAILABLE", { message: "Down." });
          return inner.remove(...which);
        },
      },
    });
    const store = withSessionDocuments(memoryStore(), knowledge);
    await talkedIn(store, "s1");
    await attach(knowledge, "s1", canary);
    const erase = (): Promise<void> => removeWithChildren(store, { scope, session: "s1" });
    await expect(erase()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect((await store.log.read({ scope, session: "s1" })).length).toBeGreaterThan(0);
    isDown = false;
    await erase();
    expect([await ofSession(knowledge, "s1"), (await store.log.head({ scope, session: "s1" })).lastSeq]).toEqual([[], 0]);
  });

  it("that was attached while the session was being removed is erased as well", async () => {
    const knowledge = createKnowledge({ store: memoryKnowledgeStore() });
    const inner = memoryStore();
    const late: SessionStore = {
      ...inner,
      log: {
        ...inner.log,
        async remove(ref) {
          await attach(knowledge, ref.session, canary);
          await inner.log.remove(ref);
        },
      },
    };
    const store = withSessionDocuments(late, knowledge);
    await talkedIn(store, "s1");
    await removeWithChildren(store, { scope, session: "s1" });
    expect(await ofSession(knowledge, "s1")).toEqual([]);
  });
});

describe("a scope", () => {
  it("is erased whole, down to the bytes of the file, and other scopes keep what they have", async () => {
    const place = folder();
    for (const [path, store] of [
      [undefined, memoryKnowledgeStore()],
      [place, sqliteKnowledgeStore({ path: join(place, "knowledge.db") })],
    ] as const) {
      const knowledge = createKnowledge({ store });
      await attach(knowledge, "s1", canary);
      await knowledge.add({ scope }, { id: "atlas", text: canary });
      await knowledge.add({ scope: "kitchen" }, { id: "recipes", text: "Of the kitchen." });
      expect([await knowledge.removeScope(scope), await knowledge.removeScope(scope)]).toEqual([2, 0]);
      expect([await ofSession(knowledge, "s1"), await idsOf(knowledge)]).toEqual([[], []]);
      expect((await knowledge.list({ scope: "kitchen" })).map(({ id }) => id)).toEqual(["recipes"]);
      await expect(knowledge.removeScope("a/b")).rejects.toMatchObject({ code: "INPUT_INVALID" });
      await knowledge.close();
      if (path === undefined) continue;
      const bytes = readdirSync(path).map((name) => readFileSync(join(path, name), "latin1").toLowerCase());
      expect(bytes.join()).not.toContain("rhododendron");
    }
  });
});
