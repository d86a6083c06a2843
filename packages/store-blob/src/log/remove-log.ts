/*
 * A session is removed in three steps. First a mark is put among those of the sessions that need an owner; then the log records that the session is
 * gone, which no writer can miss; then all its objects are deleted, and the mark last. If the process dies before that, the next search for sessions
 * that need an owner finds the mark and finishes the removal.
 */

import { inParallel } from "../in-parallel.ts";
import { listAll } from "../list-all.ts";
import { slotOfKey } from "../object-keys.ts";
import { storeLimits } from "../store-limits.ts";
import { eraseBlobsOf } from "./blob-payloads.ts";
import { noCheckpoint, sealCheckpoint } from "./checkpoint.ts";
import { sweepSlots } from "./compact-log.ts";
import { dropDueMark, putDueMark } from "./due-marks.ts";
import type { EntryDue } from "./log-entry.ts";
import type { OpenLog } from "./open-log.ts";
import { checkWritten, noAnswer, writeEntry } from "./write-entry.ts";

/** Deletes what other parts of the store keep of a session. */
export type Forget = (log: OpenLog) => Promise<void>;

/**
 * Removes a session for good. What stays is a checkpoint that holds no fact, and empty objects where a write may still come too late. Calling
 * it again finishes what a crash cut short.
 */
export async function removeLog(log: OpenLog, forget: Forget): Promise<void> {
  const before = await log.current();
  const marks: EntryDue[] = before.due ? [before.due] : [];
  // A damaged log takes no entry; no process can write to it, so the checkpoint alone may record it.
  const isWhole = !before.damage && !before.flaw;
  const mark = async (slot: number): Promise<void> => {
    const due = { at: 0, slot };
    await putDueMark(log, due);
    marks.push(due);
  };
  if (isWhole) {
    const outcome = await writeEntry(log, async (state) => {
      if (state.isRemoved) return undefined;
      await mark(state.slot + 1);
      return { header: { removed: true, due: null } };
    });
    if (outcome.type !== "dropped") checkWritten(outcome, log);
  } else await mark(before.slot + 1);
  await putLastCheckpoint(log, isWhole ? 0 : await lastSlot(log));
  await finishRemoval(log, forget);
  for (const due of marks) await dropDueMark(log, due);
}

/** Deletes what is left of a session whose log records that it is gone. */
export async function finishRemoval(log: OpenLog, forget: Forget): Promise<void> {
  const { blobs } = log.deps;
  await putLastCheckpoint(log, 0);
  await blobs.remove(log.keys.lease);
  await blobs.remove(log.keys.damage, { isDurable: true });
  await removeAll(log, log.keys.segments);
  await removeAll(log, log.keys.snapshots);
  const state = await log.known();
  const first = (await blobs.list(log.keys.slots, { limit: 1 })).objects[0];
  if (first) await sweepSlots(log, slotOfKey(first.key), state.checkpoint.slot);
  await eraseBlobsOf(blobs, log.ref);
  await forget(log);
}

async function lastSlot(log: OpenLog): Promise<number> {
  let last = 0;
  for await (const { key } of listAll(log.deps.blobs, log.keys.slots)) if (key !== log.keys.damage) last = slotOfKey(key);
  return last;
}

async function putLastCheckpoint(log: OpenLog, slotMin: number): Promise<void> {
  for (let tries = 0; tries < storeLimits.slotTriesMax; tries++) {
    const state = await log.known();
    if (state.checkpoint.isRemoved) return;
    const { epoch, released, digest, slot } = state;
    const checkpoint = { ...noCheckpoint, epoch, released, digest, slot: Math.max(slot, slotMin), isRemoved: true };
    const condition = state.checkpointEtag === undefined ? { ifNoneMatch: true } : { ifMatch: state.checkpointEtag };
    const outcome = await log.deps.blobs.put(log.keys.checkpoint, sealCheckpoint(checkpoint, log.keys.checkpoint), condition);
    if (outcome.type === "full") checkWritten(outcome, log);
    await log.reopen();
  }
  throw noAnswer(log);
}

async function removeAll(log: OpenLog, prefix: string): Promise<void> {
  const keys: string[] = [];
  for await (const { key } of listAll(log.deps.blobs, prefix)) keys.push(key);
  await inParallel(keys, (key) => log.deps.blobs.remove(key, { isDurable: true }));
}
