import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AppendOutcome } from "@loopwright/core/ports";
import { describe, expect, it, onTestFinished } from "vitest";
import { sqliteStore } from "../src/index.ts";
import { appendAll, engineOf, notes, refOf, titlesIn } from "./engine-scene.ts";
import { freshFolder } from "./fresh-folder.ts";
import { startStoreProcess } from "./store-process.ts";

const folder = freshFolder();
let count = 0;
const freshPath = (): string => join(folder, `${count++}.db`);

/** A title of its own for every place, of about one page. */
const titleOf = (session: string, seq: number): string => `${session} ${seq} ${"x".repeat(3_000 + ((seq * 337) % 2_900))}`;

describe("a file that may not grow beyond some page", () => {
  it("at each of twelve sizes: what was acknowledged is there, what was not is not, and the same batches go in when there is space", () => {
    for (let pages = 25; pages < 85; pages += 5) {
      const path = freshPath();
      const small = engineOf(path, pages * 4_096);
      const written = { a: 0, b: 0 };
      const next = (session: "a" | "b") => ({ session, request: notes(written[session], titleOf(session, written[session] + 1)) });
      const isIn = (session: "a" | "b"): boolean => {
        const [outcome] = appendAll(small, [next(session)]);
        if (outcome && "type" in outcome && outcome.type === "ok") written[session]++;
        else expect(outcome).toEqual({ type: "full" });
        return outcome !== undefined && "type" in outcome && outcome.type === "ok";
      };
      while (isIn("a") && isIn("b"));
      const titles = (session: "a" | "b"): readonly string[] =>
        Array.from({ length: written[session] }, (_, at) => titleOf(session, at + 1));
      for (const session of ["a", "b"] as const) expect(titlesIn(small, session)).toEqual(titles(session));
      small.close();
      const roomy = engineOf(path);
      for (const session of ["a", "b"] as const) {
        expect(titlesIn(roomy, session)).toEqual(titles(session));
        expect(appendAll(roomy, [next(session)])).toEqual([{ type: "ok", lastSeq: written[session] + 1 }]);
      }
      roomy.close();
    }
  });
});

/** Mounts a disk of 1 MiB; a sentence where this may not be done. */
function mountSmallDisk(place: string): string | undefined {
  mkdirSync(place);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", place], { stdio: "ignore" });
    return undefined;
  } catch {
    rmSync(place, { recursive: true });
    return "A disk of 1 MiB cannot be mounted here.";
  }
}

describe("a disk that is full", () => {
  const place = join(folder, "disk");
  it("answers `full`, loses nothing that was acknowledged, and continues without a restart when there is space again", async ({ skip }) => {
    const missing = mountSmallDisk(place);
    if (missing !== undefined) return skip(missing);
    const path = join(place, "store.db");
    const store = sqliteStore(path);
    onTestFinished(async () => {
      await store.close();
      execFileSync("umount", ["-l", place]);
    });
    const append = (session: string, seq: number, text: string): Promise<AppendOutcome> =>
      store.log.append(refOf(session), notes(seq, text));
    expect(await append("other", 0, "sound")).toMatchObject({ type: "ok" });
    writeFileSync(join(place, "filler"), new Uint8Array(300_000));
    let written = 0;
    let outcome: AppendOutcome = { type: "full" };
    // In the end only small ones fit, then none.
    for (const sizeBytes of [20_000, 500])
      for (;;) {
        outcome = await append("first", written, `${written} ${"x".repeat(sizeBytes)}`);
        if (outcome.type !== "ok") break;
        written++;
      }
    expect(written).toBeGreaterThan(5);
    expect(["full", "unknown"]).toContain(outcome.type);
    expect((await store.log.read(refOf("first"))).length).toBe(written);
    expect(await store.log.read(refOf("other"))).toHaveLength(1);
    rmSync(join(place, "filler"));
    expect(await append("first", written, "again")).toEqual({ type: "ok", lastSeq: written + 1 });
    expect(await store.check()).toMatchObject({ problems: [], damaged: [], factCount: written + 2 });
  });
});

describe("a disk that was full before the store was opened", () => {
  const place = join(folder, "full");
  const path = join(place, "store.db");

  /** A store with two facts on a disk without a free byte. */
  async function filledDisk(): Promise<string | undefined> {
    const missing = mountSmallDisk(place);
    if (missing !== undefined) return missing;
    onTestFinished(() => {
      execFileSync("umount", ["-l", place]);
      rmSync(place, { recursive: true });
    });
    const store = sqliteStore(path);
    for (const seq of [0, 1]) await store.log.append(refOf("first"), notes(seq, `word${seq}`));
    await store.close();
    fill("filler");
    return undefined;
  }

  function fill(name: string): void {
    expect(() => {
      for (;;) appendFileSync(join(place, name), new Uint8Array(1_024));
    }).toThrow("ENOSPC");
  }

  it("is read, listed, searched and checked; what writes is refused, until there is space", async ({ skip }) => {
    const missing = await filledDisk();
    if (missing !== undefined) return skip(missing);
    const store = sqliteStore(path);
    onTestFinished(() => store.close());
    const second = sqliteStore(path);
    onTestFinished(() => second.close());
    for (const each of [store, second, store]) {
      expect((await each.index.list("local")).map(({ id }) => id)).toEqual(["first"]);
      expect(await each.log.read(refOf("first"))).toHaveLength(2);
      expect((await each.index.search("local", "word1")).map(({ session }) => session.id)).toEqual(["first"]);
      expect(await each.check()).toMatchObject({ problems: [], damaged: [], factCount: 2 });
      expect(await each.log.append(refOf("first"), notes(2, "word2"))).toEqual({ type: "full" });
      await expect(each.log.due({ now: 0, limit: 1 })).rejects.toMatchObject({ code: "STORE_FULL" });
    }
    rmSync(join(place, "filler"));
    expect(await store.log.append(refOf("first"), notes(2, "word2"))).toEqual({ type: "ok", lastSeq: 3 });
    expect(await second.log.read(refOf("first"))).toHaveLength(3);
  });

  it("is read with what a killed process left in the write-ahead log", async ({ skip }) => {
    const missing = await filledDisk();
    if (missing !== undefined) return skip(missing);
    rmSync(join(place, "filler"));
    const writer = startStoreProcess("append", path, "second");
    onTestFinished(() => writer.kill());
    await writer.next();
    await writer.kill();
    rmSync(`${path}-shm`);
    fill("filler");
    const before = statSync(`${path}-wal`).size;
    expect(before).toBeGreaterThan(0);
    const store = sqliteStore(path);
    onTestFinished(() => store.close());
    expect((await store.index.list("local")).map(({ id }) => id).sort()).toEqual(["first", "shared"]);
  });
});

describe("a disk that fails to write", () => {
  // A limit on the size of files makes the engine's writes fail as a broken disk does: with an error that is not lack of space.
  it("acknowledges nothing that is not there: of every batch it is known, or found out with the same batch id, whether it is in", async () => {
    const path = freshPath();
    const kinds = new Set<string>();
    for (const fileBlocksMax of [300, 500, 900]) {
      const before = await lengthOf(path);
      const writer = startStoreProcess("until-trouble", path, String(before), { fileBlocksMax });
      onTestFinished(() => writer.kill());
      let acknowledged = before;
      for (let spoken = await writer.next(); spoken !== undefined; spoken = await writer.next()) {
        const answer = Object(spoken);
        kinds.add(answer.type ?? answer.code);
        if (answer.type === "ok" || answer.type === "dup") acknowledged = Math.max(acknowledged, answer.lastSeq);
      }
      expect(acknowledged).toBeGreaterThan(before);
      const store = sqliteStore(path);
      const facts = await store.log.read(refOf("shared"));
      expect([acknowledged, acknowledged + 1]).toContain(facts.length);
      expect(facts.map((fact) => "title" in fact && fact.title?.split(" x")[0])).toEqual(facts.map(({ seq }) => `note ${seq}`));
      // The batch in doubt, with a disk that works: in by now or then, and once.
      const again = { ...notes(acknowledged, `note ${acknowledged + 1} x`), batchId: `note ${acknowledged + 1}` };
      expect((await store.log.append(refOf("shared"), again)).type).toBe(facts.length > acknowledged ? "dup" : "ok");
      expect(await store.log.read(refOf("shared"))).toHaveLength(acknowledged + 1);
      expect(await store.check()).toMatchObject({ problems: [], damaged: [] });
      await store.close();
    }
    expect(kinds).toContain("unknown");
  });
});

async function lengthOf(path: string): Promise<number> {
  const store = sqliteStore(path);
  const { lastSeq } = await store.log.head(refOf("shared"));
  await store.close();
  return lastSeq;
}
