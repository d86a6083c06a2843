import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AppendRequest } from "@loopwright/core/ports";
import { describe, expect, it, onTestFinished } from "vitest";
import { type SqliteStore, type SqliteStoreOptions, sqliteStore } from "../src/index.ts";
import { freshFolder } from "./fresh-folder.ts";
import { obeyingModes, startStoreProcess } from "./store-process.ts";

const folder = freshFolder();
const ref = { scope: "local", session: "first" };
let count = 0;
const freshPath = (): string => join(folder, `${count++}.db`);

function open(options: string | SqliteStoreOptions): SqliteStore {
  const store = sqliteStore(options);
  onTestFinished(() => store.close());
  return store;
}

function batch(expectedSeq: number, title = "a title"): AppendRequest {
  return { expectedSeq, batchId: `after ${expectedSeq}`, facts: [{ type: "session.changed", title, at: expectedSeq, v: 1 }] };
}

/** A closed file with three facts in each of two sessions. */
async function filled(): Promise<string> {
  const path = freshPath();
  const store = sqliteStore(path);
  for (const session of ["first", "second"])
    for (let seq = 0; seq < 3; seq++) await store.log.append({ scope: "local", session }, batch(seq, `${session} ${seq}`));
  await store.close();
  return path;
}

function edit(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

const readable = (store: SqliteStore): Promise<unknown> => store.log.read(ref);

describe("a file that cannot be used is named in the error and left as it is", () => {
  const cases: readonly (readonly [string, string, (path: string) => void])[] = [
    ["is no database", "STORE_CORRUPT", (path) => writeFileSync(path, "This is a shopping list, and a long one.\n".repeat(200))],
    ["is another program's database", "STORE_CORRUPT", (path) => edit(path, "CREATE TABLE apples (colour TEXT)")],
    [
      "was written by a newer version",
      "STORE_TOO_NEW",
      (path) => edit(path, "PRAGMA user_version = 99; PRAGMA application_id = 1282430834"),
    ],
    ["is a folder", "STORE_UNAVAILABLE", (path) => mkdirSync(path)],
  ];
  for (const [what, code, spoil] of cases)
    it(`${code} for a file that ${what}`, async () => {
      const path = freshPath();
      spoil(path);
      const before = statSync(path).isFile() ? readFileSync(path) : undefined;
      const store = open(path);
      await expect(readable(store)).rejects.toMatchObject({
        code,
        message: expect.stringContaining(path),
        fix: expect.stringMatching(/\w{4}/),
      });
      await expect(store.log.append(ref, batch(0))).rejects.toMatchObject({ code });
      if (before) expect(readFileSync(path).equals(before)).toBe(true);
    });

  it("STORE_UNAVAILABLE for a file below a file", async () => {
    const path = freshPath();
    writeFileSync(path, "");
    await expect(open(join(path, "x.db")).log.append(ref, batch(0))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  it("STORE_CORRUPT, not wrong facts, when pages of the file were overwritten", async () => {
    const path = await filled();
    const bytes = readFileSync(path);
    bytes.fill(0xa5, 4_096, bytes.length);
    writeFileSync(path, bytes);
    await expect(readable(open(path))).rejects.toMatchObject({ code: "STORE_CORRUPT", message: expect.stringContaining(path) });
  });
});

describe("a damaged log", () => {
  const damages: readonly (readonly [string, string])[] = [
    ["a fact is missing", "DELETE FROM facts WHERE id = 1 * 1073741824 + 2"],
    ["the last fact is missing", "DELETE FROM facts WHERE id = 1 * 1073741824 + 3"],
    ["a fact is no JSON", "UPDATE facts SET body = substr(body, 1, 20) WHERE id = 1 * 1073741824 + 2"],
    ["one letter of a fact was changed", "UPDATE facts SET body = replace(body, 'first 1', 'first 7') WHERE id = 1 * 1073741824 + 2"],
    [
      "a fact was replaced by one of another session",
      "UPDATE facts SET (body, chain) = (SELECT body, chain FROM facts WHERE id = 2 * 1073741824 + 2) WHERE id = 1 * 1073741824 + 2",
    ],
  ];
  for (const [what, sql] of damages)
    it(`is SESSION_CORRUPT for its session alone when ${what}`, async () => {
      const path = await filled();
      edit(path, sql);
      const store = open(path);
      await expect(readable(store)).rejects.toMatchObject({ code: "SESSION_CORRUPT", message: expect.stringContaining("`first`") });
      expect(await store.log.read({ scope: "local", session: "second" })).toHaveLength(3);
      expect((await store.index.list("local")).map(({ id }) => id)).toEqual(["second", "first"]);
      expect((await store.index.search("local", "second")).map(({ session }) => session.id)).toEqual(["second"]);
      expect(await store.check()).toMatchObject({ damaged: ["local/first"], problems: [] });
    });
});

describe("a store without space", () => {
  it("answers `full`, keeps what was acknowledged, and continues when there is space again", async () => {
    const path = freshPath();
    const small = sqliteStore({ path, sizeMaxBytes: 300_000 });
    let written = 0;
    for (;;) {
      const outcome = await small.log.append(ref, batch(written, "x".repeat(20_000)));
      if (outcome.type === "full") break;
      expect(outcome.type).toBe("ok");
      written++;
    }
    expect(written).toBeGreaterThan(3);
    expect(await small.log.read(ref)).toHaveLength(written);
    expect((await small.log.append(ref, batch(written, "small"))).type).toBe("ok");
    await expect(small.blobs.put("local", "large", { bytes: new Uint8Array(500_000) })).rejects.toMatchObject({ code: "STORE_FULL" });
    await small.close();
    const roomy = open(path);
    expect((await roomy.log.append(ref, batch(written + 1, "x".repeat(20_000)))).type).toBe("ok");
    expect(await roomy.log.read(ref)).toHaveLength(written + 2);
  });

  it("writes those of several appends at once that fit", async () => {
    const store = open({ path: freshPath(), sizeMaxBytes: 300_000 });
    await store.log.append(ref, batch(0));
    const refs = Array.from({ length: 6 }, (_, index) => ({ scope: "local", session: `s${index}` }));
    const outcomes = await Promise.all(
      refs.map((each, index) => store.log.append(each, batch(0, "x".repeat(index % 2 === 0 ? 200_000 : 20)))),
    );
    expect(outcomes.map(({ type }) => type)).toEqual(["ok", "ok", "full", "ok", "full", "ok"]);
    for (const [index, each] of refs.entries()) expect(await store.log.read(each)).toHaveLength(outcomes[index]?.type === "ok" ? 1 : 0);
  });
});

describe("a store that may not be written", () => {
  it("is read, listed and searched, and STORE_READ_ONLY for what writes", async ({ skip }) => {
    const restricted = obeyingModes();
    if (typeof restricted === "string") return skip(restricted);
    const path = await filled();
    const place = join(folder, "read-only");
    const copy = join(place, "copy.db");
    mkdirSync(place);
    copyFileSync(path, copy);
    chmodSync(folder, 0o755);
    chmodSync(copy, 0o444);
    chmodSync(place, 0o555);
    onTestFinished(() => chmodSync(place, 0o755));
    const looker = startStoreProcess("look", copy, "first", { restricted });
    expect(await looker.next()).toEqual({ factCount: 3, listed: ["first", "second"], found: ["second"], blobs: [] });
    expect(await looker.next()).toMatchObject({ code: "STORE_READ_ONLY", message: `The store ${copy} cannot be written.` });
    expect(await looker.next()).toMatchObject({ code: "STORE_READ_ONLY" });
    expect(await looker.ended).toBe(0);
    expect(readFileSync(copy).equals(readFileSync(path))).toBe(true);
  });
});

describe("a store that is not there", () => {
  it("is empty, and looking into it makes no file", async () => {
    const path = join(folder, "nowhere", "x.db");
    const store = open(path);
    expect([await store.log.read(ref), await store.index.list("local"), await store.blobs.get("local", "x")]).toEqual([[], [], undefined]);
    expect(existsSync(path)).toBe(false);
    await store.log.append(ref, batch(0));
    expect(await store.log.read(ref)).toHaveLength(1);
    expect([statSync(path).mode & 0o777, statSync(join(folder, "nowhere")).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  it("is made at the first write of another process, and then seen", async () => {
    const path = freshPath();
    const looker = open(path);
    expect(await looker.index.list("local")).toEqual([]);
    await open(path).log.append(ref, batch(0));
    expect(await looker.index.list("local")).toHaveLength(1);
  });
});

describe("the event loop", () => {
  it("is not held up: an append has returned its promise before anything was written", async () => {
    const path = freshPath();
    const store = open(path);
    const appended = store.log.append(ref, batch(0));
    expect(existsSync(path)).toBe(false);
    await appended;
    expect(existsSync(path)).toBe(true);
  });

  it("keeps working while another process holds the file, and the append is answered when the file is free", async () => {
    const path = await filled();
    const store = open(path);
    const holder = new DatabaseSync(path);
    onTestFinished(() => holder.close());
    holder.exec("BEGIN IMMEDIATE");
    let isAnswered = false;
    const appended = store.log.append(ref, batch(3)).finally(() => {
      isAnswered = true;
    });
    for (let turn = 0; turn < 50; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    expect(isAnswered).toBe(false);
    holder.exec("COMMIT");
    expect(await appended).toEqual({ type: "ok", lastSeq: 4 });
  });
});

describe("limits and misuse", () => {
  it("STORE_UNAVAILABLE, with nothing written, when the file stays locked longer than the time allowed", async () => {
    const path = await filled();
    const store = open({ path, busyTimeoutMs: 1 });
    const holder = new DatabaseSync(path);
    holder.exec("BEGIN IMMEDIATE");
    await expect(store.log.append(ref, batch(3))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      retryable: true,
      message: expect.stringContaining(path),
    });
    expect(await store.log.read(ref)).toHaveLength(3);
    holder.close();
    expect(await store.log.append(ref, batch(3))).toEqual({ type: "ok", lastSeq: 4 });
  });

  it("facts and batches over the limits of the port are INPUT_INVALID", async () => {
    const { log } = open(freshPath());
    await expect(log.append(ref, batch(0, "é".repeat(140_000)))).rejects.toMatchObject({ code: "INPUT_INVALID" });
    const facts = Array.from({ length: 6 }, () => batch(0, "x".repeat(200_000)).facts).flat();
    await expect(log.append(ref, { expectedSeq: 0, batchId: "b", facts })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    expect((await log.head(ref)).lastSeq).toBe(0);
  });

  it("a closed store answers STORE_UNAVAILABLE, and closing twice is once", async () => {
    const store = sqliteStore(freshPath());
    await store.log.append(ref, batch(0));
    await Promise.all([store.close(), store.close()]);
    await store.close();
    await expect(readable(store)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  it("closing waits for what was asked before", async () => {
    const path = freshPath();
    const store = sqliteStore(path);
    const appended = store.log.append(ref, batch(0));
    await store.close();
    expect(await appended).toEqual({ type: "ok", lastSeq: 1 });
    expect(await open(path).log.read(ref)).toHaveLength(1);
  });

  it("a path of nothing is CONFIG_INVALID", () => {
    expect(() => sqliteStore("")).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });
});

describe("a lease from before the machine was started anew", () => {
  it("is over, although the clock stands long before its end", async () => {
    const path = freshPath();
    const before = { monotonic: () => 5_000_000 };
    const after = { monotonic: () => 1_000 };
    expect(await open({ path, clock: before }).log.claim(ref, { node: "one", leaseMs: 15_000 })).toMatchObject({
      type: "claimed",
      epoch: 1,
    });
    expect(await open({ path, clock: before }).log.claim(ref, { node: "two", leaseMs: 15_000 })).toMatchObject({ type: "held" });
    expect(await open({ path, clock: after }).log.claim(ref, { node: "two", leaseMs: 15_000 })).toMatchObject({
      type: "claimed",
      epoch: 2,
    });
  });
});
