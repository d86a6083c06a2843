import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { AppendRequest } from "@loopwright/core/ports";
import { expect, it, onTestFinished } from "vitest";
import { sqliteStore } from "../src/index.ts";
import { freshFolder } from "./fresh-folder.ts";
import { obeyingModes, startStoreProcess } from "./store-process.ts";

const folder = freshFolder();

const batch = (seq: number, title: string): AppendRequest => ({
  expectedSeq: seq,
  batchId: `after ${seq}`,
  facts: [{ type: "session.changed", title, at: seq, v: 1 }],
});

it("a file that may not be written is read with all that the log holds which a dead process has left beside it", async ({ skip }) => {
  const restricted = obeyingModes();
  if (typeof restricted === "string") return skip(restricted);
  const path = join(folder, "used.db");
  const place = join(folder, "read-only");
  const copy = join(place, "copy.db");
  mkdirSync(place);
  const store = sqliteStore(path);
  onTestFinished(() => store.close());
  for (const session of ["first", "second"])
    for (let seq = 0; seq < 3; seq++) await store.log.append({ scope: "local", session }, batch(seq, `${session} ${seq}`));
  // As a crash leaves them: the file, and the log with what is not in it yet.
  for (const end of ["", "-wal"]) copyFileSync(`${path}${end}`, `${copy}${end}`);
  expect(statSync(`${copy}-wal`).size).toBeGreaterThan(0);
  const before = readFileSync(`${copy}-wal`);
  for (const [each, mode] of [
    [folder, 0o755],
    [copy, 0o444],
    [`${copy}-wal`, 0o444],
    [place, 0o555],
  ] as const)
    chmodSync(each, mode);
  onTestFinished(() => chmodSync(place, 0o755));
  const looker = startStoreProcess("look", copy, "first", { restricted });
  expect(await looker.next()).toEqual({ factCount: 3, listed: ["first", "second"], found: ["second"], blobs: [] });
  expect(await looker.next()).toMatchObject({ code: "STORE_READ_ONLY", message: `The store ${copy} cannot be written.` });
  expect(await looker.next()).toMatchObject({ code: "STORE_READ_ONLY" });
  expect(await looker.ended).toBe(0);
  expect(readdirSync(place).sort()).toEqual(["copy.db", "copy.db-wal"]);
  expect(readFileSync(`${copy}-wal`).equals(before)).toBe(true);
});
