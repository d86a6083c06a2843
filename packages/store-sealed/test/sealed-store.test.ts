import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, createSession, execute } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import type { SessionRef, SessionStore } from "@loopwright/core/ports";
import { type KeyRing, masterKeyOf, masterKeys, newMasterKey } from "@loopwright/secrets";
import { sqliteStore } from "@loopwright/store-sqlite";
import { expect, it, onTestFinished } from "vitest";
import { sealedStore, wrappedKeys } from "../src/index.ts";

/** Words that must never stand in a file. */
const canaries = ["Zanzibarite", "Quokkaberry", "Wombatstone", "Narwhalite", "anne@example.com"];
const [spoken = "", answered = "", titled = "", noted = "", user = ""] = canaries;

const anyKey = () => masterKeyOf(newMasterKey());
const first = await anyKey();
const oneMaster = (): KeyRing => masterKeys(first);

/** An encrypted store over files of its own. */
function overFiles(master = oneMaster()) {
  const folder = mkdtempSync(join(tmpdir(), "sealed-"));
  const below = sqliteStore({ path: join(folder, "sessions.db") });
  const keyStore = sqliteStore({ path: join(folder, "keys.db") });
  onTestFinished(async () => {
    await Promise.all([below.close(), keyStore.close()]);
    rmSync(folder, { recursive: true, force: true });
  });
  const keys = wrappedKeys({ blobs: keyStore.blobs, master });
  return { folder, below, keyStore, keys, store: sealedStore(below, { keys }) };
}

const agent = createAgent({ name: "helper", provider: scripted(Array.from({ length: 20 }, () => ({ text: `I see: ${answered}.` }))) });
const access = { user, scope: "garden" };
const refOf = (session: string): SessionRef => ({ scope: "garden", session });

/** A conversation with a canary in each of its places. */
async function talk(store: SessionStore, id: string): Promise<void> {
  await using session = createSession({ agent, id, store, access, title: `About ${titled}`, metadata: { note: noted } });
  await execute(session, `Tell me of ${spoken} and of "${"long ".repeat(100)}"`).result();
}

const filesOf = (folder: string): string =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "latin1"))
    .join("\n");

it("no text of a session stands in a file of the store, and its owner reads, lists and searches it", async () => {
  const { folder, store, below } = overFiles();
  await talk(store, "one");
  await store.blobs.put("garden", "upload-1", { bytes: Buffer.from(spoken) });
  const [summary] = await store.index.list("garden");
  expect(summary).toMatchObject({ id: "one", title: `About ${titled}`, metadata: { note: noted }, participants: [user, "helper"] });
  for (const word of [spoken, answered, titled.toLowerCase()])
    expect(await store.index.search("garden", word)).toMatchObject([
      { session: { id: "one" }, excerpt: expect.stringMatching(new RegExp(word, "i")) },
    ]);
  expect(await store.index.search("garden", "Zanzi")).toEqual([]);
  expect(await store.index.search("kitchen", spoken)).toEqual([]);
  await below.close();
  for (const canary of canaries) expect(filesOf(folder).toLowerCase()).not.toContain(canary.toLowerCase());
});

it("after the erasure of a session neither the store, nor a backup of it, nor its index is readable with the keys that are left", async () => {
  const { folder, store, keyStore, keys } = overFiles();
  await talk(store, "one");
  await talk(store, "two");
  const backup = join(folder, "backup.db");
  await store.probe?.();
  copyFileSync(join(folder, "sessions.db"), backup);
  copyFileSync(join(folder, "sessions.db-wal"), `${backup}-wal`);
  await store.log.remove(refOf("one"));
  const restored = sqliteStore({ path: backup });
  onTestFinished(() => restored.close());
  const old = sealedStore(restored, {
    keys: wrappedKeys({ blobs: keyStore.blobs, master: masterKeys(await anyKey()) }),
  });
  expect((await restored.log.read(refOf("one"))).length).toBeGreaterThan(3);
  const again = sealedStore(restored, { keys });
  await expect(again.log.read(refOf("one"))).rejects.toMatchObject({
    code: "SESSION_CORRUPT",
    message: expect.stringContaining("was erased"),
  });
  await expect(again.log.append(refOf("one"), { expectedSeq: 99, batchId: "b", facts: [] })).rejects.toMatchObject({
    code: "SESSION_CORRUPT",
  });
  expect(await again.index.get("garden", "one")).not.toHaveProperty("title");
  expect((await again.log.read(refOf("two"))).length).toBeGreaterThan(3);
  await expect(old.log.read(refOf("two"))).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});

it("erasing the keys of a scope leaves nothing of it readable, and the other scopes as they were", async () => {
  const { store, keys } = overFiles();
  await talk(store, "one");
  await store.blobs.put("garden", "upload-1", { bytes: Buffer.from("x") });
  await using other = createSession({ agent, id: "other", store, access: { user: "ben", scope: "kitchen" } });
  await execute(other, "Pots").result();
  await keys.eraseScope("garden");
  await expect(store.log.read(refOf("one"))).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
  await expect(store.blobs.get("garden", "upload-1")).rejects.toMatchObject({ code: "BLOB_NOT_FOUND" });
  expect(await store.index.search("kitchen", "Pots")).toHaveLength(1);
});

it("a session continues in another process, and one from before the encryption stays readable and searchable by its words there", async () => {
  const { below, store, keyStore } = overFiles();
  await using early = createSession({ agent, id: "early", store: below, access });
  await execute(early, "Before").result();
  await talk(store, "one");
  const master = masterKeys(await anyKey());
  await expect(sealedStore(below, { keys: wrappedKeys({ blobs: keyStore.blobs, master }) }).log.read(refOf("one"))).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining(`\`${first.id}\``),
  });
  await using again = createSession({ agent, id: "early", store, access });
  expect((await execute(again, "After").result()).status).toBe("completed");
  expect((await store.index.get("garden", "early"))?.title).toBe("Before");
});

it("a fact, a text or a blob that was moved to another place is refused", async () => {
  const { below, store } = overFiles();
  const target = memoryStore();
  await talk(store, "one");
  const facts = await below.log.read(refOf("one"));
  await target.log.append(refOf("one"), { expectedSeq: 0, batchId: "b", facts: facts.toReversed() });
  const keys = { ...wrappedKeys({ blobs: memoryStore().blobs, master: oneMaster() }), session: async () => new Uint8Array(32) };
  await expect(sealedStore(target, { keys }).log.read(refOf("one"))).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
  await store.blobs.put("garden", "a", { bytes: Buffer.from("x") });
  const moved = await below.blobs.get("garden", "a");
  await below.blobs.put("garden", "b", { bytes: moved?.bytes ?? new Uint8Array() });
  await expect(store.blobs.get("garden", "b")).rejects.toMatchObject({ code: "BLOB_NOT_FOUND" });
});

it("a blob of a fork outlives the key of the session that it comes from", async () => {
  const { store, keys } = overFiles();
  await store.blobs.put("garden", "picture", { bytes: Buffer.from("pixels"), session: "origin" });
  expect(await store.blobs.own("garden", "picture", "fork")).toBe(true);
  await keys.eraseSession(refOf("origin"));
  expect(Buffer.from((await store.blobs.get("garden", "picture", { session: "fork" }))?.bytes ?? []).toString()).toBe("pixels");
});

it("after a rotation new keys are under the new master key, old ones can be read, and `rewrap` makes the old one dispensable", async () => {
  const next = await anyKey();
  const { below, keyStore, store } = overFiles();
  await talk(store, "one");
  const both = wrappedKeys({ blobs: keyStore.blobs, master: masterKeys(next, [first]) });
  expect((await sealedStore(below, { keys: both }).log.read(refOf("one"))).length).toBeGreaterThan(3);
  expect(await both.rewrap("garden")).toBe(2);
  expect(await both.rewrap("garden")).toBe(0);
  const only = wrappedKeys({ blobs: keyStore.blobs, master: masterKeys(next) });
  expect((await sealedStore(below, { keys: only }).log.read(refOf("one"))).length).toBeGreaterThan(3);
});

it("of several processes that begin one session at once all use one key", async () => {
  const { keyStore } = overFiles();
  const master = oneMaster();
  const made = await Promise.all(
    Array.from({ length: 20 }, () => wrappedKeys({ blobs: keyStore.blobs, master }).createSession(refOf("one"))),
  );
  expect(new Set(made.map((key) => Buffer.from(key).toString("hex"))).size).toBe(1);
});
