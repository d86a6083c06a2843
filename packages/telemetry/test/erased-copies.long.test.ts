import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createAgent, defineTool } from "@loopwright/core";
import { memoryStore, scripted, systemClock } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { createHost, createRuntime, eraseScope, type Host } from "@loopwright/host";
import { masterKeyOf, masterKeys, newMasterKey } from "@loopwright/secrets";
import { redisMissing, startRedis } from "@loopwright/simulator/node";
import { blobStore, fileBlobs, s3Blobs } from "@loopwright/store-blob";
import { redisStore } from "@loopwright/store-redis";
import { sealedStore, wrappedKeys } from "@loopwright/store-sealed";
import { sqliteStore } from "@loopwright/store-sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { auditLog, auditObserver } from "../src/audit/index.ts";

/** A storage, with every byte of it. */
interface Place {
  open(): SessionStore;
  bytes(): string | Promise<string>;
  /** A copy of every byte, as it is at this moment. */
  copy(): Promise<Place>;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "loopwright-copies-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const bytesIn = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.name}\n${readFileSync(join(entry.parentPath, entry.name), "latin1")}`)
    .join("\n");

/** A storage whose bytes are the files of a folder. */
function inFolder(openAt: (folder: string) => SessionStore, folder = newFolder()): Place {
  return {
    open: () => openAt(folder),
    bytes: () => bytesIn(folder),
    async copy() {
      const copied = newFolder();
      // As a backup is restored: its process does not live any more.
      cpSync(folder, copied, { recursive: true, filter: (from) => basename(from) !== "lock" });
      return inFolder(openAt, copied);
    },
  };
}

async function inRedis(dir = newFolder()): Promise<Place> {
  const redis = await startRedis({ dir, args: ["--appendfsync", "always", "--rdbcompression", "no", "--aof-use-rdb-preamble", "no"] });
  onTestFinished(() => redis.stop());
  return {
    open: () => redisStore({ url: redis.url, deadlineMs: 20_000 }),
    async bytes() {
      // The dump beside the file of all commands: values as they are kept now.
      await redis.command("SAVE");
      return bytesIn(dir);
    },
    async copy() {
      const copied = newFolder();
      cpSync(dir, copied, { recursive: true });
      return inRedis(copied);
    },
  };
}

interface FakeS3 {
  readonly endpoint: string;
  readonly objects: Map<string, { readonly bytes: Uint8Array }>;
  close(): Promise<void>;
}
interface FakeS3Module {
  startFakeS3(clock: { monotonic(): number }): Promise<FakeS3>;
  readonly fakeS3Place: { readonly [Name in "region" | "bucket" | "accessKeyId" | "secretAccessKey"]: string };
}

async function inS3(objects: FakeS3["objects"] = new Map()): Promise<Place> {
  // The server of the store's own tests; no door of the package leads to it.
  const file = new URL("../../store-blob/test/fake-s3.ts", import.meta.url);
  const { startFakeS3, fakeS3Place } = (await import(file.href)) as FakeS3Module;
  const server = await startFakeS3(systemClock);
  onTestFinished(() => server.close());
  for (const [key, object] of objects) server.objects.set(key, object);
  return {
    open: () => blobStore({ blobs: s3Blobs({ ...fakeS3Place, endpoint: server.endpoint, deadlineMs: 60_000 }), heldLookMs: 0 }),
    bytes: () => [...server.objects].map(([key, { bytes }]) => `${key}\n${Buffer.from(bytes).toString("latin1")}`).join("\n"),
    copy: () => inS3(new Map(server.objects)),
  };
}

const places: { readonly [name: string]: () => Place | Promise<Place> } = {
  SQLite: () => inFolder((folder) => sqliteStore({ path: join(folder, "sessions.db") })),
  "files in a folder": () => inFolder((folder) => blobStore({ blobs: fileBlobs({ folder }) })),
  "objects in S3": () => inS3(),
  Redis: () => inRedis(),
};
const missing = redisMissing();
if (missing) console.info(`Skipped: erasure in a dump of Redis: ${missing}.`);

/** Words that only sessions, their titles, files, drafts and tools have. */
const words = {
  spoken: "zanzibarite",
  answered: "quokkaberry",
  titled: "wombatstone",
  noted: "narwhalite",
  filed: "pangolinium",
  given: "axolotline",
};
const canaries = Object.values(words);

const tool = defineTool({
  ...{ name: "look", description: "Looks.", parameters: { type: "object" }, replay: "pure" },
  // Too large for a fact: it is kept as a blob of the session.
  execute: () => `${words.given} ${"and so on ".repeat(9_000)}`,
});
const agentOf = () =>
  createAgent({
    ...{ name: "helper", tools: [tool] },
    provider: scripted(({ messages }) =>
      messages.at(-1)?.role === "user"
        ? { text: `I look for ${words.answered}.`, calls: [{ name: "look" }] }
        : { text: `It is ${words.answered}.` },
    ),
  });

/** A conversation with words in each of its places. */
async function talk({ runtime, store }: Pick<Host, "runtime" | "store">, session: string): Promise<void> {
  const access = { user: "anne", scope: "garden" };
  const about = { id: session, access, title: `About ${words.titled}`, metadata: { note: words.noted } };
  expect((await runtime.ask("helper", `Tell me of ${words.spoken}.`, about).result()).status).toBe("completed");
  await store.blobs.put("garden", `upload-${session}`, { bytes: Buffer.from(words.filed), session });
  await store.snapshots.put({ scope: "garden", session }, "draft", `A draft of ${words.answered}`);
  expect(await store.index.search("garden", words.spoken)).not.toEqual([]);
}

const traces = (text: string): readonly string[] => canaries.filter((word) => text.toLowerCase().includes(word));

describe.each(Object.entries(places).filter(([name]) => name !== "Redis" || missing === undefined))("what is kept in %s", (_, open) => {
  it("shows the words of a session in its bytes, as long as nothing encrypts it", async () => {
    const place = await open();
    const store = place.open();
    const host = createHost({ runtime: createRuntime({ agents: [agentOf()], store }), isOneOfMany: false });
    await talk(host, "one");
    await host.close();
    await store.close();
    expect(traces(await place.bytes())).toEqual(canaries);
  });

  it("after the erasure of a session, and of its scope, holds nothing readable with the keys that are left, no more do copies from before; the audit chain verifies", async () => {
    const place = await open();
    const master = masterKeys(await masterKeyOf(newMasterKey()));
    const keys = wrappedKeys({ blobs: memoryStore().blobs, master, keptMs: 0 });
    const below = place.open();
    const store = sealedStore(below, { keys });
    const audit = auditLog({ log: store.log, segmentEntries: 4 });
    const host = createHost({
      runtime: createRuntime({ agents: [agentOf()], store, observers: [auditObserver(audit)] }),
      isOneOfMany: false,
    });
    for (const session of ["one", "two"]) await talk(host, session);
    await store.blobs.put("garden", "upload-of-none", { bytes: Buffer.from(words.filed) });
    await audit.settled();
    const before = await audit.verify("garden");
    const backup = await place.copy();
    expect(traces(`${await place.bytes()}${await backup.bytes()}`)).toEqual([]);
    const copyBelow = backup.open();
    const copy = sealedStore(copyBelow, { keys });
    /** What of a session the keys that are left open in the copy. */
    const readable = async (session: string): Promise<readonly string[]> => {
      const ref = { scope: "garden", session };
      const values = (await copyBelow.blobs.list("garden", {})).filter((key) => !key.startsWith("upload"));
      const answers = await Promise.allSettled([
        copy.log.read(ref),
        copy.index.get("garden", session),
        copy.index.list("garden"),
        ...canaries.map((word) => copy.index.search("garden", word)),
        copy.snapshots.get(ref, "draft"),
        ...[`upload-${session}`, ...values].map(async (key) => {
          const found = await copy.blobs.get("garden", key, { session });
          return Buffer.from(found?.bytes ?? []).toString();
        }),
      ]);
      const own = answers.map((answer) => (answer.status === "fulfilled" ? answer.value : ""));
      // Lists and searches give other sessions too.
      const text = own.map((answer) => JSON.stringify(Array.isArray(answer) ? answer.filter((one) => isOf(one, session)) : answer));
      return traces(text.join("\n"));
    };
    expect(await readable("one")).toEqual(canaries);

    await host.sessions.remove({ scope: "garden", session: "one" });
    expect(await readable("one")).toEqual([]);
    await expect(copy.log.read({ scope: "garden", session: "one" })).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
    expect((await copy.index.search("garden", words.spoken)).map(({ session }) => session.id)).toEqual(["two"]);
    expect(await readable("two")).toEqual(canaries);
    expect((await store.index.search("garden", words.spoken)).map(({ session }) => session.id)).toEqual(["two"]);

    expect(await eraseScope(host, "garden")).toEqual({ removed: 1, held: [] });
    await keys.eraseScope("garden");
    for (const session of ["one", "two"]) expect(await readable(session)).toEqual([]);
    await expect(copy.blobs.get("garden", "upload-of-none")).rejects.toMatchObject({ code: "BLOB_NOT_FOUND" });
    expect(await copy.index.search("garden", words.spoken)).toEqual([]);
    await audit.settled();
    expect(await audit.verify("garden", before.intact ? { head: before.head } : {})).toMatchObject({ intact: true });
    expect((await audit.list("garden")).filter(({ action }) => action === "session.removed").map(({ session }) => session)).toEqual([
      "one",
      "two",
    ]);
    await host.close();
    await Promise.all([store.close(), copy.close()]);
    expect(traces(`${await place.bytes()}${await backup.bytes()}`)).toEqual([]);
  });
});

/** A fact of the session that was asked for, a summary or a hit of this session. */
function isOf(one: unknown, session: string): boolean {
  const { id, session: hit } = one as { readonly id?: string; readonly session?: { readonly id?: string } };
  return (hit?.id ?? id ?? session) === session;
}
