import type { FactDraft } from "@loopwright/core";
import { manualClock, seededRandom } from "@loopwright/core/memory";
import type { SessionRef, SessionStore } from "@loopwright/core/ports";
import { expect, it } from "vitest";
import { blobStore, fileBlobs } from "../src/index.ts";
import { dying } from "./dying-blobs.ts";
import { type MemoryBlobs, memoryBlobs } from "./memory-blobs.ts";
import { simulatedDisk } from "./simulated-disk.ts";

const clock = manualClock();
const canary = "xyzzyplugh";
const secret: SessionRef = { scope: "local", session: "secret" };
const bytes = new TextEncoder().encode(canary.repeat(50));
const factCount = 11;

/** Batches in segments and in slots, drafts, what was spilled, a file that two sessions own, an answer under a key, a summary and a view. */
async function fill({ log, blobs, snapshots, index }: SessionStore): Promise<void> {
  for (let seq = 0; seq < factCount; seq++) {
    const fact: FactDraft = { type: "session.changed", title: `${canary} ${seq}`, at: seq, v: 1 };
    await log.append(secret, { expectedSeq: seq, batchId: `b${seq}`, facts: [fact], ...(seq === 3 ? { due: 40 } : {}) });
  }
  await snapshots.put(secret, "fold", canary);
  for (const key of [`sha256-${"0".repeat(64)}`, `idempotency-${"1".repeat(64)}`])
    await blobs.put("local", key, { bytes, session: secret.session, ifAbsent: true });
  await blobs.put("local", "upload-alone", { bytes, mediaType: `text/${canary}` });
  await blobs.own("local", "upload-alone", secret.session);
  await blobs.put("local", "upload-shared", { bytes: Uint8Array.of(1) });
  for (const session of [secret.session, "other"]) await blobs.own("local", "upload-shared", session);
  await index.list("local");
}

const open = (blobs: Parameters<typeof blobStore>[0]["blobs"]): SessionStore => blobStore({ blobs, clock, compactAfter: 4 });

/** Keys of objects that hold anything of the session beside the mark that it is gone. */
function traces({ objects }: MemoryBlobs): readonly string[] {
  const found = [...objects].filter(([key, object]) => {
    const isTombstone = /^sessions\/local\/secret\/(checkpoint|slots\/\d+)$/.test(key);
    const hasWords = Buffer.from(object.bytes).includes(canary) || (object.mediaType ?? "").includes(canary);
    return hasWords || (!isTombstone && key.includes("secret")) || key.startsWith("due/");
  });
  return found.map(([key]) => key);
}

it("a process that removes a session may die before or after any of its requests: the next listing of due sessions finishes the removal", async () => {
  let [points, gone] = [0, 0];
  for (let dies = 1; ; dies++) {
    const blobs = memoryBlobs({ clock });
    const before = open(blobs);
    await fill(before);
    await before.close();
    expect(traces(blobs).length).toBeGreaterThan(10);
    const wasWhole = await open(dying(blobs, dies))
      .log.remove(secret)
      .then(
        () => true,
        () => false,
      );
    const { log, blobs: payloads, index } = open(blobs);
    await log.due({ now: 100 });
    const isGone = (await log.head(secret)).lastSeq === 0;
    if (isGone) {
      expect(traces(blobs), `request ${dies}`).toEqual([]);
      expect(await payloads.list("local"), `request ${dies}`).toEqual(["upload-shared"]);
      gone++;
    } else {
      // Nothing is missing, and the next try succeeds.
      expect(await log.read(secret)).toHaveLength(factCount);
      expect(await payloads.list("local")).toHaveLength(4);
      await log.remove(secret);
      expect(traces(blobs), `request ${dies}, again`).toEqual([]);
    }
    expect((await payloads.get("local", "upload-shared"))?.bytes, `request ${dies}`).toEqual(Uint8Array.of(1));
    expect(await index.list("local")).toEqual([]);
    points++;
    if (wasWhole) break;
  }
  console.info(`Removals that were cut short: ${points} points, ${gone} after the log said so.`);
  expect(gone).toBeGreaterThan(30);
});

it("a process may die before or after any request by which a session takes a file over: the file is there, and goes with the session", async () => {
  for (let dies = 1; ; dies++) {
    const blobs = memoryBlobs({ clock });
    const before = open(blobs);
    await before.blobs.put("local", "upload-alone", { bytes, mediaType: "text/plain" });
    await before.close();
    const wasWhole = await open(dying(blobs, dies))
      .blobs.own("local", "upload-alone", "secret")
      .then(
        () => true,
        () => false,
      );
    const { log, blobs: payloads } = open(blobs);
    expect(await payloads.get("local", "upload-alone"), `request ${dies}`).toEqual({ bytes, mediaType: "text/plain" });
    expect(await payloads.own("local", "upload-alone", "secret"), `request ${dies}`).toBe(true);
    await log.remove(secret);
    expect(traces(blobs), `request ${dies}`).toEqual([]);
    if (wasWhole) break;
  }
});

it("a removal of a log that is damaged may be cut short as well", async () => {
  for (let dies = 1; ; dies++) {
    const blobs = memoryBlobs({ clock });
    const before = open(blobs);
    await fill(before);
    await before.close();
    const slots = [...blobs.objects.keys()].filter((key) => key.startsWith("sessions/local/secret/slots/")).sort();
    const last = slots.at(-1) ?? "";
    const object = blobs.objects.get(last);
    if (!object) throw new Error("There is no slot.");
    blobs.objects.set(last, { ...object, bytes: object.bytes.map((value, at) => (at === 20 ? value ^ 1 : value)) });
    const wasWhole = await open(dying(blobs, dies))
      .log.remove(secret)
      .then(
        () => true,
        () => false,
      );
    const { log } = open(blobs);
    await log.due({ now: 100 });
    const isGone = await log.head(secret).then(
      ({ lastSeq }) => lastSeq === 0,
      () => false,
    );
    if (!isGone) await log.remove(secret);
    expect(traces(blobs), `request ${dies}`).toEqual([]);
    if (wasWhole) break;
  }
});

it("the machine may stop right after a removal was answered: no file with content of the session comes back", async () => {
  const folder = "/disk";
  for (let seed = 1; seed <= 10; seed++) {
    const disk = simulatedDisk({ random: seededRandom(seed) });
    const onDisk = (files: typeof disk.files) => fileBlobs({ folder, clock: manualClock(), files });
    const store = open(onDisk(disk.files));
    await fill(store);
    // Nothing is written to the folder of the scope's blobs after this.
    await store.blobs.put("local", "upload-last", { bytes });
    await store.blobs.own("local", "upload-last", secret.session);
    await store.log.remove(secret);
    const after = disk.crash();
    await store.close();
    // Another start of the machine: the process that held the folder is gone.
    await after.files.remove(`${folder}/lock`);
    const left = onDisk(after.files);
    const keys: string[] = [];
    for (const { key } of (await left.list("")).objects) {
      const object = key === "lock" ? undefined : await left.get(key);
      if (Buffer.from(object?.bytes ?? []).includes(canary) || (object?.mediaType ?? "").includes(canary)) keys.push(key);
    }
    await left.close();
    expect(keys, `seed ${seed}`).toEqual([]);
  }
});
