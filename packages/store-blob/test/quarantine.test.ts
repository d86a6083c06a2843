import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { manualClock, systemClock } from "@loopwright/core/memory";
import type { AppendOutcome, Clock, SessionLog, SessionStore } from "@loopwright/core/ports";
import { expect, it } from "vitest";
import { blobStore, type ConditionalBlobs, fileBlobs } from "../src/index.ts";
import { withFlippedBit } from "./damage.ts";
import { freshFolder } from "./fresh-folder.ts";
import { type MemoryBlobs, memoryBlobs } from "./memory-blobs.ts";
import { noteBatch, ref, titlesOf, writeNotes } from "./notes.ts";

const root = freshFolder();
const mark = "sessions/local/first/slots/damaged";
const hasty: Clock = { ...systemClock, after: (_, run) => systemClock.after(0, run) };
const open = (blobs: ConditionalBlobs, compactAfter = 10): SessionStore => blobStore({ blobs, compactAfter, clock: hasty });

/** Ten facts in a segment, three in slots after it. */
async function filled(): Promise<MemoryBlobs> {
  const blobs = memoryBlobs({ clock: manualClock() });
  const store = open(blobs);
  await writeNotes(store.log, 13);
  await store.close();
  return blobs;
}

/** Changes an object whose key has this in it; gives what puts it back. */
function damage(blobs: MemoryBlobs, part: RegExp): () => void {
  for (const [key, object] of blobs.objects) {
    if (!key.startsWith("sessions/local/first/") || !part.test(key)) continue;
    blobs.objects.set(key, { ...object, bytes: withFlippedBit(object.bytes, (object.bytes.length - 3) * 8) });
    return () => void blobs.objects.set(key, object);
  }
  throw new Error(`There is no object ${part}.`);
}
const segment = /segments\/[^.]+$/;

const answerOf = (log: SessionLog, after = 13, batchId = "news"): Promise<AppendOutcome["type"] | "SESSION_CORRUPT"> =>
  log.append(ref, noteBatch(batchId, after)).then(
    ({ type }) => type,
    (error) => error.code,
  );
const seeDamage = (log: SessionLog): Promise<void> => expect(log.read(ref)).rejects.toMatchObject({ code: "SESSION_CORRUPT" });

it("after damage was read no process that opens the log later writes, until the objects are put back and the mark is deleted", async () => {
  const blobs = await filled();
  const mend = damage(blobs, segment);
  await seeDamage(open(blobs).log);
  const next = open(blobs).log;
  await expect(next.append(ref, noteBatch("news", 13))).rejects.toMatchObject({
    code: "SESSION_CORRUPT",
    message: "The log of session `first` is marked as damaged.",
    details: { key: mark },
  });
  expect((await next.head(ref)).lastSeq).toBe(13);
  mend();
  expect(await answerOf(open(blobs).log)).toBe("SESSION_CORRUPT");
  expect(await titlesOf(open(blobs).log)).toHaveLength(13);
  blobs.objects.delete(mark);
  expect(await answerOf(open(blobs).log)).toBe("ok");
});

it("damage of a segment, of the batch ids, of the checkpoint and of a slot is marked by the process that finds it, reading or writing", async () => {
  for (const part of [segment, /\.ids$/, /checkpoint$/, /slots\/0*12$/]) {
    const blobs = await filled();
    const mend = damage(blobs, part);
    const { log } = open(blobs);
    await log.read(ref).catch(() => undefined);
    await log.append(ref, noteBatch("news", 13)).catch(() => undefined);
    expect(blobs.objects.has(mark), String(part)).toBe(true);
    mend();
    expect(await answerOf(open(blobs).log), String(part)).toBe("SESSION_CORRUPT");
  }
});

it("a node that has had the log open stops when it loses a race, wherever the damage lies", async () => {
  for (const part of [segment, /slots\/0*12$/]) {
    const blobs = await filled();
    const late = open(blobs, 1_000).log;
    expect(await titlesOf(late)).toHaveLength(13);
    expect(await answerOf(open(blobs, 1_000).log, 13, "faster")).toBe("ok");
    damage(blobs, part);
    await seeDamage(open(blobs, 1_000).log);
    // It would have been a conflict.
    expect(await answerOf(late)).toBe("SESSION_CORRUPT");
    expect(await answerOf(late, 14)).toBe("SESSION_CORRUPT");
  }
});

it("a log without damage is opened and written without one request for the mark", async () => {
  const blobs = await filled();
  const asked: string[] = [];
  const counted = memoryBlobs({
    clock: manualClock(),
    before: ({ name, key }) => void asked.push(`${name} ${key.replace("sessions/local/first/", "").replace(/0{3,}/, "")}`),
  });
  for (const [key, object] of blobs.objects) counted.objects.set(key, object);
  const { log } = open(counted);
  expect([await answerOf(log, 13, "b14"), await answerOf(log, 14, "b15")]).toEqual(["ok", "ok"]);
  expect(asked.filter((each) => each.includes("damaged") || each.startsWith("has"))).toEqual([]);
  expect(asked.filter((each) => each.startsWith("put slots/"))).toHaveLength(2);
});

it("a storage that refuses the mark leaves the damage reported, and the next process that sees it marks it", async () => {
  const blobs = await filled();
  damage(blobs, segment);
  const full: ConditionalBlobs = { ...blobs, put: async () => ({ type: "full" }) };
  const { log } = open(full);
  await seeDamage(log);
  expect([await answerOf(log), blobs.objects.has(mark)]).toEqual(["SESSION_CORRUPT", false]);
  await seeDamage(open(blobs).log);
  expect(await answerOf(open(blobs).log)).toBe("SESSION_CORRUPT");
});

it("a damaged session that is removed is closed, and its mark goes with it", async () => {
  for (const part of [segment, /slots\/0*12$/]) {
    const blobs = await filled();
    damage(blobs, part);
    const { log } = open(blobs);
    await seeDamage(log);
    expect(blobs.objects.has(mark)).toBe(true);
    await log.remove(ref);
    expect([await answerOf(log), await answerOf(open(blobs).log)]).toEqual(["closed", "closed"]);
    expect(blobs.objects.has(mark)).toBe(false);
  }
});

it("in a folder of files the quarantine holds after a restart", async () => {
  const folder = join(root, "folder");
  const start = (): SessionStore => open(fileBlobs({ folder }));
  const first = start();
  await writeNotes(first.log, 13);
  await first.close();
  const name = readdirSync(join(folder, "sessions/local/first/segments")).find((each) => !each.endsWith(".ids")) ?? "";
  const path = join(folder, "sessions/local/first/segments", name);
  const sound = readFileSync(path);
  writeFileSync(path, withFlippedBit(sound, (sound.length - 3) * 8));
  const second = start();
  await seeDamage(second.log);
  await second.close();
  writeFileSync(path, sound);
  const third = start();
  expect(await answerOf(third.log)).toBe("SESSION_CORRUPT");
  await third.close();
  rmSync(join(folder, mark));
  const fourth = start();
  expect(await answerOf(fourth.log)).toBe("ok");
  await fourth.close();
});
