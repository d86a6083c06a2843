import { isAgentError } from "@loopwright/core";
import { manualClock, seededRandom, systemClock } from "@loopwright/core/memory";
import type { Clock } from "@loopwright/core/ports";
import { expect, it } from "vitest";
import { openFile, sealFile } from "../src/files/file-format.ts";
import { blobStore } from "../src/index.ts";
import { withFlippedBit } from "./damage.ts";
import { type MemoryBlobs, memoryBlobs } from "./memory-blobs.ts";
import { noteBatch, ref, titlesOf, writeNotes } from "./notes.ts";

const clock = manualClock();
const count = Number(process.env["LOOPWRIGHT_DAMAGES"] ?? 200);
/** Pauses take no time: there is no process to wait for. */
const hasty: Clock = { ...systemClock, after: (_, run) => systemClock.after(0, run) };
const open = (blobs: MemoryBlobs) => blobStore({ blobs, compactAfter: 10, clock: hasty }).log;

/** A log in segments, a checkpoint and slots after it; beside it another of the same length. */
async function sampleLog(): Promise<MemoryBlobs> {
  const blobs = memoryBlobs({ clock });
  for (const session of ["first", "second"]) {
    const store = blobStore({ blobs, compactAfter: 10 });
    await writeNotes(store.log, 13, { scope: "local", session });
    await store.close();
  }
  return blobs;
}

function copyOf(blobs: MemoryBlobs): MemoryBlobs {
  const copy = memoryBlobs({ clock });
  for (const [key, object] of blobs.objects) copy.objects.set(key, object);
  return copy;
}

const keysOf = (blobs: MemoryBlobs): readonly string[] =>
  [...blobs.objects].flatMap(([key, { bytes }]) => (key.startsWith("sessions/local/first/") && bytes.length > 0 ? [key] : []));

/** The errors of a reader and a writer of a log; `undefined` where it is what was written. */
async function troubleOf(blobs: MemoryBlobs, wanted: readonly string[]): Promise<string | undefined> {
  const log = open(blobs);
  try {
    expect(await titlesOf(log)).toEqual(wanted);
    // A writer looks at the ids of all batches.
    expect(await log.append(ref, noteBatch("b3", 99))).toEqual({ type: "dup", lastSeq: 3 });
    return undefined;
  } catch (error) {
    if (isAgentError(error)) return error.code;
    throw error;
  }
}

it("an object cut at any byte is SESSION_CORRUPT, or was not needed: never other facts, and never a shorter log", async () => {
  const blobs = await sampleLog();
  const wanted = await titlesOf(open(blobs));
  let cuts = 0;
  for (const key of keysOf(blobs)) {
    const object = blobs.objects.get(key);
    for (let length = 0; object && length < object.bytes.length; length += 1 + Math.floor((blobs.objects.size * 20) / count)) {
      const cut = copyOf(blobs);
      cut.objects.set(key, { ...object, bytes: object.bytes.slice(0, length) });
      expect(await troubleOf(cut, wanted), `${key} at ${length}`).toBe("SESSION_CORRUPT");
      cuts++;
    }
  }
  console.info(`Cut objects: ${cuts}, all seen.`);
});

it("a flipped bit, a zeroed page, two objects in each other's place, one twice and one that is missing are seen, every one", async () => {
  const blobs = await sampleLog();
  const wanted = await titlesOf(open(blobs));
  const random = seededRandom(4);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const keys = keysOf(blobs);
  const slots = keys.filter((key) => key.includes("/slots/"));
  const kinds = {
    flip(copy: MemoryBlobs) {
      const key = pick(keys);
      const object = copy.objects.get(key);
      if (object) copy.objects.set(key, { ...object, bytes: withFlippedBit(object.bytes, Math.floor(random() * object.bytes.length * 8)) });
    },
    zero(copy: MemoryBlobs) {
      const key = pick(keys);
      const object = copy.objects.get(key);
      if (object) copy.objects.set(key, { ...object, bytes: object.bytes.slice().fill(0, Math.floor(random() * object.bytes.length)) });
    },
    swap(copy: MemoryBlobs) {
      const one = pick(keys);
      const other = pick([...keys, one.replace("first", "second")].filter((key) => key !== one && blobs.objects.has(key)));
      const [a, b] = [copy.objects.get(one), copy.objects.get(other)];
      if (a && b) copy.objects.set(one, b).set(other, a);
    },
    twice(copy: MemoryBlobs) {
      const last = slots.at(-1) ?? "";
      const again = copy.objects.get(pick(slots));
      if (again)
        copy.objects.set(
          last.replace(/\d+$/, (slot) => String(Number(slot) + 1).padStart(slot.length, "0")),
          again,
        );
    },
    missing(copy: MemoryBlobs) {
      copy.objects.delete(pick(keys.filter((key) => key !== slots.at(-1))));
    },
  };
  let tried = 0;
  for (; tried < count; tried++) {
    const kind = pick(Object.keys(kinds) as (keyof typeof kinds)[]);
    const copy = copyOf(blobs);
    kinds[kind](copy);
    expect(await troubleOf(copy, wanted), `${kind}, try ${tried}`).toBe("SESSION_CORRUPT");
  }
  console.info(`Damages: ${tried}, all seen.`);
});

it("a damaged log takes nothing from another session, and can be removed", async () => {
  const blobs = await sampleLog();
  for (const key of keysOf(blobs).filter((one) => one.includes("/slots/"))) blobs.objects.delete(key);
  const object = blobs.objects.get("sessions/local/first/checkpoint");
  if (object) blobs.objects.set("sessions/local/first/checkpoint", { ...object, bytes: object.bytes.slice(1) });
  const log = open(blobs);
  await expect(log.read(ref)).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
  await expect(log.append(ref, noteBatch("x", 13))).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
  expect((await titlesOf(log, { scope: "local", session: "second" })).length).toBe(13);
});

it("a file cut at any byte, or with any bit flipped, is not taken for an object", () => {
  const file = sealFile(
    { etag: "e", writtenMs: 1, life: "here", mediaType: "text/plain" },
    new TextEncoder().encode("Some bytes.\nAnd more."),
  );
  expect(new TextDecoder().decode(openFile(file, "key").bytes)).toBe("Some bytes.\nAnd more.");
  for (let length = 0; length < file.length; length++) expect(() => openFile(file.slice(0, length), "key")).toThrow("`key` is damaged");
  for (let bit = 0; bit < file.length * 8; bit++) expect(() => openFile(withFlippedBit(file, bit), "key")).toThrow("`key` is damaged");
});
