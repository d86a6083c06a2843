import { manualClock, systemClock } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { expect, it } from "vitest";
import { blobStore, type ConditionalBlobs } from "../src/index.ts";
import { compactLog } from "../src/log/compact-log.ts";
import { OpenLogs } from "../src/log/open-logs.ts";
import { dying } from "./dying-blobs.ts";
import { type MemoryBlobs, memoryBlobs } from "./memory-blobs.ts";
import { noteBatch, ref, titlesOf, writeNotes } from "./notes.ts";

const clock = manualClock();
const wanted = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `b${at + 1}.0`);
const storeOn = (blobs: ConditionalBlobs, compactAfter = 1_000): SessionStore => blobStore({ blobs, compactAfter });

/** The same objects for the only writer there is. */
const alone = (blobs: MemoryBlobs, life: string): ConditionalBlobs => ({ ...blobs, exclusive: { life } });

/** Compacts as a store would, by a process of its own. */
const compact = (blobs: ConditionalBlobs): Promise<boolean> =>
  compactLog(new OpenLogs({ blobs, clock: systemClock, deadlineMs: 1_000 }).of(ref));

it("a long log lies in few objects, and to open it a handful of them is asked for", async () => {
  const blobs = memoryBlobs({ clock });
  const store = storeOn(alone(blobs, "one"), 16);
  await writeNotes(store.log, 500);
  await store.close();
  expect([...blobs.objects.keys()].filter((key) => key.startsWith("sessions/")).length).toBeLessThan(45);
  const asked: string[] = [];
  const counted: ConditionalBlobs = {
    ...blobs,
    get(key) {
      asked.push(key);
      return blobs.get(key);
    },
  };
  const { log } = storeOn(counted);
  expect((await log.head(ref)).lastSeq).toBe(500);
  // The checkpoint, what came after it, one beyond the tail, and the lease.
  expect(asked.length).toBeLessThanOrEqual(3 + 16 + 16);
  expect(await titlesOf(log)).toEqual(wanted(500));
  expect((await log.read(ref, { from: 200, limit: 2 })).map(({ seq }) => seq)).toEqual([200, 201]);
});

it("a long log that is read page by page asks for each of its objects once", async () => {
  const blobs = memoryBlobs({ clock });
  await writeNotes(storeOn(blobs).log, 60);
  await compact(blobs);
  const asked: string[] = [];
  const { log } = storeOn({
    ...blobs,
    get(key) {
      asked.push(key);
      return blobs.get(key);
    },
  });
  const seqs: number[] = [];
  for (let from = 1; from <= 60; from += 10) seqs.push(...(await log.read(ref, { from, limit: 10 })).map(({ seq }) => seq));
  expect(seqs).toEqual(wanted(60).map((_, at) => at + 1));
  expect(asked.filter((key) => key.includes("/segments/")).length).toBe(1);
});

it("a batch is remembered by every process that opens a compacted log", async () => {
  const blobs = memoryBlobs({ clock });
  await writeNotes(storeOn(blobs).log, 40);
  expect(await compact(blobs)).toBe(true);
  for (const seq of [1, 20, 40])
    expect(await storeOn(blobs).log.append(ref, noteBatch(`b${seq}`, 40))).toEqual({ type: "dup", lastSeq: seq });
});

it("a writer that was paused while the log grew and was compacted gets a conflict, and writes nothing", async () => {
  const blobs = memoryBlobs({ clock });
  const [sleeper, other] = [storeOn(blobs).log, storeOn(blobs).log];
  await writeNotes(other, 1);
  await sleeper.head(ref);
  for (let seq = 1; seq < 30; seq++) await other.append(ref, noteBatch(`b${seq + 1}`, seq));
  expect(await compact(blobs)).toBe(true);
  expect(await sleeper.append(ref, noteBatch("late", 1))).toEqual({ type: "conflict", actualSeq: 30 });
  expect(await titlesOf(sleeper)).toEqual(wanted(30));
  expect(await titlesOf(storeOn(blobs).log)).toEqual(wanted(30));
});

it("a writer that was paused while the session was removed gets `closed`", async () => {
  const blobs = memoryBlobs({ clock });
  const stores = [storeOn(blobs), storeOn(blobs)] as const;
  const [sleeper, other] = [stores[0].log, stores[1].log];
  await writeNotes(other, 3);
  await sleeper.read(ref);
  await other.remove(ref);
  expect(await sleeper.append(ref, noteBatch("late", 3))).toEqual({ type: "closed" });
  expect(await titlesOf(sleeper)).toEqual([]);
  await Promise.all(stores.map((store) => store.close()));
  expect([...blobs.objects].flatMap(([key, { bytes }]) => (bytes.length > 0 ? [key] : []))).toEqual(["sessions/local/first/checkpoint"]);
});

it("readers see the whole log while it is compacted again and again", async () => {
  const blobs = memoryBlobs({ clock });
  const [writer, reader] = [storeOn(blobs, 4), storeOn(blobs)];
  let length = 0;
  const writing = (async () => {
    for (; length < 120; length++) await writer.log.append(ref, noteBatch(`b${length + 1}`, length));
  })();
  for (let done = false; !done; ) {
    const least = length;
    done = least === 120;
    const titles = await titlesOf(reader.log);
    expect(titles.length).toBeGreaterThanOrEqual(least);
    expect(titles).toEqual(wanted(titles.length));
  }
  await writing;
  await writer.close();
});

it("of several that compact at once one moves the checkpoint, and nothing is lost", async () => {
  const blobs = memoryBlobs({ clock });
  await writeNotes(storeOn(blobs).log, 20);
  const done = await Promise.all([compact(blobs), compact(blobs), compact(blobs)]);
  expect(done.filter((is) => is).length).toBe(1);
  expect(await titlesOf(storeOn(blobs).log)).toEqual(wanted(20));
  expect(await storeOn(blobs).log.append(ref, noteBatch("b7", 20))).toEqual({ type: "dup", lastSeq: 7 });
});

it("a compaction may die before or after any of its requests: the log is whole, grows, and is compacted by the next", async () => {
  let points = 0;
  for (const isAlone of [false, true]) {
    for (let dies = 1; ; dies++) {
      const blobs = memoryBlobs({ clock });
      const on = (life: string, place: ConditionalBlobs = blobs): ConditionalBlobs => (isAlone ? { ...place, exclusive: { life } } : place);
      const first = storeOn(on("one"));
      await writeNotes(first.log, 12);
      await compact(on("two"));
      const second = storeOn(on("three"));
      for (let seq = 12; seq < 20; seq++) await second.log.append(ref, noteBatch(`b${seq + 1}`, seq));
      const wasWhole = await compact(on("four", dying(blobs, dies))).then(
        () => true,
        () => false,
      );
      const third = storeOn(on("five"));
      const where = `${isAlone ? "alone" : "among others"}, at request ${dies}`;
      expect(await titlesOf(third.log), where).toEqual(wanted(20));
      expect(await third.log.append(ref, noteBatch("b5", 20)), where).toEqual({ type: "dup", lastSeq: 5 });
      expect(await third.log.append(ref, noteBatch("b21", 20)), where).toEqual({ type: "ok", lastSeq: 21 });
      expect(await compact(on("six")), where).toBe(true);
      expect(await titlesOf(storeOn(on("seven")).log), where).toEqual(wanted(21));
      points++;
      if (wasWhole) break;
    }
  }
  console.info(`Compactions that died: ${points} points.`);
  expect(points).toBeGreaterThan(60);
});
