import { noCheckpoint, sealCheckpoint } from "./checkpoint.ts";
import { sweepSlots } from "./compact-log.ts";
import { dropDueMark } from "./due-marks.ts";
import { inParallel } from "./in-parallel.ts";
import { listAll } from "./list-all.ts";
import { slotOfKey } from "./object-keys.ts";
import type { OpenLog } from "./open-log.ts";
import { storeLimits } from "./store-limits.ts";
import { checkWritten, noAnswer, writeEntry } from "./write-entry.ts";

/**
 * Says in the log that the session is gone, which no writer can miss; then deletes what it was. What stays is a checkpoint that holds no
 * fact, and empty objects where a write may still come too late. Calling it again finishes what a crash cut short.
 */
export async function removeLog(log: OpenLog): Promise<void> {
  const due = (await log.current()).due;
  const { blobs } = log.deps;
  // A damaged log takes no entry; nobody can write to it, so the checkpoint alone may say it.
  const { damage, flaw } = await log.known();
  const isWhole = !damage && !flaw;
  if (isWhole) {
    const outcome = await writeEntry(log, async (state) => (state.isRemoved ? undefined : { header: { removed: true, due: null } }));
    if (outcome.type !== "dropped") checkWritten(outcome, log);
  }
  await putLastCheckpoint(log, isWhole ? 0 : await lastSlot(log));
  if (due) await dropDueMark(log, due);
  await blobs.remove(log.keys.lease);
  await blobs.remove(log.keys.damage);
  await removeAll(log, log.keys.segments);
  await removeAll(log, log.keys.drafts);
  const state = await log.known();
  const first = (await blobs.list(log.keys.slots, { limit: 1 })).objects[0];
  if (first) await sweepSlots(log, slotOfKey(first.key), state.checkpoint.slot);
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
  await inParallel(keys, (key) => log.deps.blobs.remove(key));
}
