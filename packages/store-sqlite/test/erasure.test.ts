import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { FactDraft } from "@loopwright/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { type SqliteStore, sqliteStore } from "../src/index.ts";
import { refOf } from "./engine-scene.ts";
import { freshFolder } from "./fresh-folder.ts";

const folder = freshFolder();
let count = 0;

const canary = "xyzzyplugh";
const files = (path: string): readonly string[] =>
  ["", "-wal", "-shm", "-journal"].map((end) => path + end).filter((each) => existsSync(each));

/** Where the words of the secret stand in the bytes of the files, the stemmed end of a word in the index too: its first letter is shared. */
function tracesIn(path: string): readonly string[] {
  return files(path).filter((each) => readFileSync(each).toString("latin1").includes(canary.slice(1)));
}

function open(path: string): SqliteStore {
  const store = sqliteStore({ path, busyTimeoutMs: 200 });
  onTestFinished(() => store.close());
  return store;
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Puts words everywhere where a session may have some: facts, spilled values, files, drafts, the summary, the index of words. */
async function fill(store: SqliteStore, session: string, word: string, factCount = 120): Promise<void> {
  const { log, blobs, snapshots, index } = store;
  const ref = refOf(session);
  for (let seq = 0; seq < factCount; seq++) {
    const message = { role: "user", content: `${word}${seq} ${"filler ".repeat(seq * 7)}${word}` } as const;
    const fact: FactDraft = { type: "input.accepted", inputId: `i${seq}`, runId: `r${seq}`, mode: "enqueue", message, at: seq, v: 1 };
    await log.append(ref, { expectedSeq: seq, batchId: `${word} ${seq}`, facts: [fact] });
    await snapshots.put(ref, `draft ${seq % 5}`, `${word} ${"d".repeat(seq * 200)}`);
  }
  await blobs.put("local", `sha256-${session}`, { bytes: bytesOf(`${word} `.repeat(60_000)), session });
  await blobs.put("local", `upload-${session}`, { bytes: bytesOf(`${word} `.repeat(10_000)), mediaType: `text/${word}` });
  await blobs.own("local", `upload-${session}`, session);
  await blobs.put("local", `idempotency-${session}`, { bytes: bytesOf(word), session });
  await index.list("local");
  await index.search("local", word);
  // Projections are kept when no caller waits: by the call after this one they are in the file.
  await index.list("local");
}

describe("the files of a store after a session was removed", () => {
  it("hold none of its words: not in facts, blobs, snapshots, summaries, the index of words, free pages or the write-ahead log", async () => {
    const path = join(folder, `${count++}.db`);
    const store = open(path);
    await fill(store, "kept", "innocent");
    // Few words among many: the index does not clean up by itself.
    await fill(store, "secret", canary, 6);
    expect(tracesIn(path)).not.toEqual([]);
    await store.log.remove(refOf("secret"));
    expect(tracesIn(path)).toEqual([]);
    expect(await store.index.search("local", canary)).toEqual([]);
    expect(await store.index.search("local", "innocent")).toHaveLength(1);
    expect(await store.log.read(refOf("kept"))).toHaveLength(120);
    expect(await store.check()).toMatchObject({ problems: [], damaged: [], blobCount: 3 });
    await store.close();
    expect(tracesIn(path)).toEqual([]);
  });

  it("a process may die before it has erased everything: the next one that lists due sessions continues the erasure", async () => {
    const path = join(folder, `${count++}.db`);
    const store = open(path);
    await fill(store, "secret", canary);
    // A reader that does not go away keeps the log from being emptied.
    const reader = new DatabaseSync(path);
    reader.exec("BEGIN; SELECT count(*) FROM facts");
    await store.log.remove(refOf("secret"));
    expect(tracesIn(path)).not.toEqual([]);
    // What a machine finds on its disk where everything ended at this moment.
    const left = join(folder, `${count++}.db`);
    for (const each of files(path)) if (!each.endsWith("-shm")) copyFileSync(each, each.replace(path, left));
    reader.close();
    await open(left).log.due({ now: 0 });
    expect(tracesIn(left)).toEqual([]);
    await store.log.due({ now: 0 });
    expect(tracesIn(path)).toEqual([]);
  });

  it("keep the blob that another session owns too, until that one is removed", async () => {
    const path = join(folder, `${count++}.db`);
    const store = open(path);
    await fill(store, "secret", canary);
    await store.blobs.own("local", "upload-secret", "other");
    await store.log.remove(refOf("secret"));
    expect((await store.blobs.get("local", "upload-secret"))?.mediaType).toBe(`text/${canary}`);
    await store.log.remove(refOf("other"));
    expect(tracesIn(path)).toEqual([]);
  });
});
