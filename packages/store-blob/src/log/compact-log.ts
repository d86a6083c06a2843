/*
 * Many small objects become one. First the new segment is written, then the checkpoint names it, under the etag of the one before; only then
 * the slots that it covers give their room back. A crash between leaves objects without a reference, or slots that the next compaction sweeps.
 */

import { inParallel } from "../in-parallel.ts";
import { storeLimits } from "../store-limits.ts";
import { type BatchIds, type Checkpoint, idsKey, openIds, type Segment, sealCheckpoint, sealSegment, segmentKey } from "./checkpoint.ts";
import type { LogState } from "./log-state.ts";
import type { OpenLog } from "./open-log.ts";
import { readLines } from "./read-facts.ts";

interface Plan {
  readonly state: LogState;
  readonly etag: string | undefined;
  readonly summary: Omit<Checkpoint, "segments">;
  readonly kept: readonly Segment[];
  /** Those at the end that become part of the new one. */
  readonly merged: readonly Segment[];
  readonly ids: BatchIds;
  readonly from: number;
}

/** Moves what lies after the checkpoint behind a new one. False when another process was faster, or there was nothing to do. */
export async function compactLog(log: OpenLog): Promise<boolean> {
  const plan = await log.run(() => planCompaction(log));
  if (!plan) return false;
  const made = plan.summary.lastSeq < plan.from ? undefined : await writeSegment(log, plan);
  const segments = made ? [...plan.kept, made] : [...plan.kept, ...plan.merged];
  const isDone = await log.run(() => moveCheckpoint(log, plan, segments));
  if (!isDone) {
    const fresh = await log.run(() => log.reopen());
    if (fresh.isRemoved && made) await removeSegments(log, [made]);
    return false;
  }
  await sweepSlots(log, plan.state.sweptSlot + 1, plan.summary.slot);
  plan.state.sweptSlot = plan.summary.slot;
  if (made)
    await removeSegments(
      log,
      plan.merged.filter(({ name }) => name !== made.name),
    );
  return true;
}

async function planCompaction(log: OpenLog): Promise<Plan | undefined> {
  const state = await log.withBatches(await log.current());
  if (state.damage || state.flaw || state.isRemoved || state.tail.length === 0) return undefined;
  const { segments } = state.checkpoint;
  let first = segments.length;
  let sizeBytes = state.tail.reduce((sum, entry) => sum + entry.sizeBytes, 0);
  // Segments grow by doubling: each fact is copied as often as the logarithm of the log's length.
  for (let segment = segments[first - 1]; segment; segment = segments[first - 1]) {
    if (segment.sizeBytes > 2 * sizeBytes || segment.sizeBytes + sizeBytes > storeLimits.segmentBytesMax) break;
    sizeBytes += segment.sizeBytes;
    first--;
  }
  const merged = segments.slice(first);
  const tailIds = state.tail.flatMap(({ batchId, to }) => (batchId === undefined ? [] : [[batchId, to] as const]));
  return {
    state,
    etag: state.checkpointEtag,
    summary: state.summary(),
    kept: segments.slice(0, first),
    merged,
    ids: tailIds,
    from: merged[0]?.from ?? state.checkpoint.lastSeq + 1,
  };
}

async function writeSegment(log: OpenLog, { summary, merged, ids, from }: Plan): Promise<Segment> {
  const { blobs } = log.deps;
  const folder = log.keys.segments;
  const lines = await readLines(log, { from, to: summary.lastSeq });
  const mergedIds = await inParallel(merged, async (segment) => {
    const object = await log.get(idsKey(folder, segment));
    return openIds(object?.bytes ?? new Uint8Array(), segment, folder);
  });
  const { segment, bytes, idsBytes } = sealSegment({ from, lines, ids: [...mergedIds.flat(), ...ids] }, folder);
  for (const [key, content] of [
    [segmentKey(folder, segment), bytes],
    [idsKey(folder, segment), idsBytes],
  ] as const) {
    const { type } = await blobs.put(key, content);
    if (type !== "written") throw new Error(`The segment was not written: ${type}`);
  }
  return segment;
}

async function moveCheckpoint(log: OpenLog, { state, etag, summary }: Plan, segments: readonly Segment[]): Promise<boolean> {
  const checkpoint: Checkpoint = { ...summary, segments };
  const condition = etag === undefined ? { ifNoneMatch: true } : { ifMatch: etag };
  const outcome = await log.deps.blobs.put(log.keys.checkpoint, sealCheckpoint(checkpoint, log.keys.checkpoint), condition);
  if (outcome.type !== "written" || (await log.known()) !== state) return false;
  state.compacted(checkpoint, outcome.etag);
  return true;
}

/** Gives the room of slots back. They stay taken where others may write, so that a write that comes too late is refused. */
export async function sweepSlots(log: OpenLog, from: number, to: number): Promise<void> {
  const { blobs } = log.deps;
  const slots = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => log.keys.slot(from + index));
  await inParallel(slots, async (key) => {
    if (blobs.exclusive) await blobs.remove(key, { isDurable: true });
    else if ((await blobs.put(key, new Uint8Array())).type !== "written") throw new Error(`The slot ${key} was not swept.`);
  });
}

async function removeSegments(log: OpenLog, segments: readonly Segment[]): Promise<void> {
  const folder = log.keys.segments;
  await inParallel(segments, async (segment) => {
    await log.deps.blobs.remove(segmentKey(folder, segment));
    await log.deps.blobs.remove(idsKey(folder, segment));
  });
}
