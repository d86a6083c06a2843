import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { sqliteStore } from "../src/index.ts";
import { notes, refOf } from "./engine-scene.ts";
import { freshFolder } from "./fresh-folder.ts";

const folder = freshFolder();

/** How many transactions the write-ahead log holds. @see https://www.sqlite.org/fileformat2.html#walformat (2026-11-21) */
function commitCount(path: string): number {
  const log = existsSync(`${path}-wal`) ? readFileSync(`${path}-wal`) : Buffer.alloc(0);
  if (log.length < 32) return 0;
  const frameBytes = 24 + log.readUInt32BE(8);
  let commits = 0;
  // A frame that ends a transaction holds the number of pages of the file after it.
  for (let at = 32; at + frameBytes <= log.length; at += frameBytes) if (log.readUInt32BE(at + 4) > 0) commits++;
  return commits;
}

it("appends to 200 sessions at once share one transaction, and so one write to the disk", async () => {
  const path = join(folder, "together.db");
  const store = sqliteStore(path);
  onTestFinished(() => store.close());
  const append = (seq: number, sessions: readonly number[]) =>
    Promise.all(sessions.map((each) => store.log.append(refOf(`s${each}`), notes(seq, `${each}`))));
  await append(0, [0]);
  const before = commitCount(path);
  const outcomes = await append(
    0,
    Array.from({ length: 200 }, (_, index) => index + 1),
  );
  expect(outcomes.every(({ type }) => type === "ok")).toBe(true);
  expect(commitCount(path) - before).toBe(1);
  await append(1, [1]);
  await append(1, [2]);
  expect(commitCount(path) - before).toBe(3);
});
