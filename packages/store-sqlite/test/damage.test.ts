import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { seededRandom } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { appendAll, engineOf, notes, titlesIn } from "./engine-scene.ts";
import { freshFolder } from "./fresh-folder.ts";

const folder = freshFolder();
const sessions = ["first", "second", "third"];
let count = 0;
const freshPath = (): string => join(folder, `${count++}.db`);

/** Written batch by batch, each session's titles in order; large ones lie over several pages. */
function filled(path: string, batches = 12): ReadonlyMap<string, readonly string[]> {
  const engine = engineOf(path);
  const written = new Map<string, string[]>(sessions.map((session) => [session, []]));
  for (let batch = 0; batch < batches; batch++)
    for (const [session, titles] of written) {
      const fresh = [`${session} ${batch} é`, `${session} ${batch} ${"x".repeat(batch % 4 === 3 ? 9_000 : 50)}`];
      const [outcome] = appendAll(engine, [{ session, request: notes(titles.length, ...fresh) }]);
      titles.push(...fresh);
      expect(outcome).toEqual({ type: "ok", lastSeq: titles.length });
    }
  // The write-ahead log is left where it is when the file is not closed.
  copyFileSync(path, `${path}.open`);
  copyFileSync(`${path}-wal`, `${path}.open-wal`);
  engine.close();
  return written;
}

/** The answer of every session of a file, however it was damaged. */
function notified(path: string): ReadonlyMap<string, readonly string[] | string> {
  const engine = engineOf(path);
  const answers = new Map(sessions.map((session) => [session, titlesIn(engine, session)]));
  try {
    engine.close();
  } catch {
    // A damaged file may refuse to be closed well.
  }
  return answers;
}

/** In what an answer differs from what was written, in short; `undefined` when in nothing. */
function differenceFrom(written: readonly string[] | undefined, answer: readonly string[] | string): string | undefined {
  if (JSON.stringify(written) === JSON.stringify(answer)) return undefined;
  return typeof answer === "string" ? answer : `${answer.length} of ${written?.length} facts`;
}

/** Pages that were emptied hold what lay there before; a file written anew has none. */
function withoutRemains(path: string): void {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = DELETE; VACUUM; PRAGMA journal_mode = WAL");
  database.close();
}

const pageBytes = 4_096;
/** @see https://www.sqlite.org/fileformat2.html (2026-11-21): the first byte of a page is its kind. */
const interiorTablePage = 5;

/** Every place in the file where the text of a fact lies. */
function factBytes(file: Buffer): readonly number[] {
  const marks = ['{"type":"session.changed"', "x".repeat(64), '"title":"'];
  const places = new Set<number>();
  for (const mark of marks)
    for (let at = file.indexOf(mark); at >= 0; at = file.indexOf(mark, at + 1))
      for (let byte = at; byte < at + mark.length; byte++) places.add(byte);
  // A page that leads to others holds no facts, only what remains of the time when it did.
  return [...places].filter((place) => file[place - (place % pageBytes)] !== interiorTablePage);
}

describe("a bit that has turned", () => {
  it("in a fact is reported as SESSION_CORRUPT, all of 400 at random places, and no other session is touched", () => {
    const path = freshPath();
    const written = filled(path);
    withoutRemains(path);
    const sound = readFileSync(path);
    const places = factBytes(sound);
    expect(places.length).toBeGreaterThan(10_000);
    const random = seededRandom(7);
    const copy = freshPath();
    const verdicts = new Map<string, number>();
    for (let round = 0; round < 400; round++) {
      const bytes = Buffer.from(sound);
      const place = places[Math.floor(random() * places.length)] ?? 0;
      bytes[place] = (bytes[place] ?? 0) ^ (1 << Math.floor(random() * 8));
      writeFileSync(copy, bytes);
      const answers = [...notified(copy)];
      const differences = answers.flatMap(([session, answer]) => differenceFrom(written.get(session), answer) ?? []).join();
      verdicts.set(differences, (verdicts.get(differences) ?? 0) + 1);
    }
    expect([...verdicts]).toEqual([["SESSION_CORRUPT", 400]]);
  });

  it("anywhere in the file is reported, or changes no fact that is returned", () => {
    const path = freshPath();
    const written = filled(path, 4);
    const sound = readFileSync(path);
    const random = seededRandom(8);
    const copy = freshPath();
    for (let round = 0; round < 300; round++) {
      const bytes = Buffer.from(sound);
      const place = Math.floor(random() * bytes.length);
      bytes[place] = (bytes[place] ?? 0) ^ (1 << Math.floor(random() * 8));
      writeFileSync(copy, bytes);
      for (const [session, answer] of notified(copy)) {
        // The name under which a session is found may be what turned: then it is not there. Never do facts read differently.
        const isNotified = typeof answer === "string" || answer.length === 0;
        if (!isNotified) expect(differenceFrom(written.get(session), answer), `byte ${place}`).toBeUndefined();
      }
    }
  });
});

describe("a copy that was cut short", () => {
  it("at any place is reported as damage, or gives the facts as they were written", () => {
    const path = freshPath();
    const written = filled(path);
    const sound = readFileSync(path);
    const copy = freshPath();
    let notifiedDamage = 0;
    for (let size = 1; size < sound.length; size += 1_537) {
      writeFileSync(copy, sound.subarray(0, size));
      for (const [session, answer] of notified(copy))
        if (typeof answer === "string") {
          // A page that cannot be read whole is a disk that fails, to the engine.
          expect(["STORE_CORRUPT", "SESSION_CORRUPT", "STORE_UNAVAILABLE"]).toContain(answer);
          notifiedDamage++;
        } else expect(differenceFrom(written.get(session), answer), `${size} of ${sound.length} bytes`).toBeUndefined();
    }
    expect(notifiedDamage).toBeGreaterThan(100);
  });

  it("in its write-ahead log gives whole batches up to some place, each session without a gap", () => {
    const path = freshPath();
    const written = filled(path);
    const log = readFileSync(`${path}.open-wal`);
    const lengths = new Set<number>();
    for (let size = 0; size <= log.length; size += 7_741) {
      const copy = freshPath();
      copyFileSync(`${path}.open`, copy);
      writeFileSync(`${copy}-wal`, log.subarray(0, size));
      for (const [session, answer] of notified(copy)) {
        expect(Array.isArray(answer), `${size} bytes: ${answer}`).toBe(true);
        expect(answer.length % 2).toBe(0);
        if (Array.isArray(answer)) expect(differenceFrom(written.get(session)?.slice(0, answer.length), answer)).toBeUndefined();
        lengths.add(answer.length);
      }
    }
    // From nothing to everything: the cuts were felt.
    expect([...lengths].sort((a, b) => a - b)).toEqual(Array.from({ length: 13 }, (_, batch) => batch * 2));
  });
});

it("a fact that was changed and sealed anew under an open file is seen when the log is read", () => {
  const path = freshPath();
  const engine = engineOf(path);
  appendAll(engine, [{ session: "first", request: notes(0, "one", "two", "three") }]);
  const database = new DatabaseSync(path);
  const [before, own] = database.prepare("SELECT id, body, chain FROM facts ORDER BY id LIMIT 2").all();
  const body = String(own?.["body"]).replace("two", "won");
  const chain = crc32(body, Number(before?.["chain"]));
  expect(database.prepare("UPDATE facts SET body = ?, chain = ? WHERE id = ?").run(body, chain, Number(own?.["id"])).changes).toBe(1);
  database.close();
  expect(titlesIn(engine, "first")).toContain("SESSION_CORRUPT");
  engine.close();
});
