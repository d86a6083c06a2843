import type { AgentError } from "@loopwright/core";
import type { AppendOutcome, AppendRequest } from "@loopwright/core/ports";
import type { Checkpoint } from "./checkpoint.ts";
import type { Entry, EntryDue } from "./log-entry.ts";

/** A slot after the checkpoint. */
export interface TailEntry {
  readonly slot: number;
  readonly from: number;
  readonly to: number;
  readonly batchId: string | undefined;
  readonly sizeBytes: number;
  readonly before: string;
  /** Of this slot and all before it: what is read again has to have the same. */
  readonly digest: string;
}

/** What is known of a log: its checkpoint, and every slot after it up to the tail that was seen last. */
export class LogState {
  checkpoint: Checkpoint;
  /** The version of the checkpoint's object; absent where there is none. */
  checkpointEtag: string | undefined;
  /** Slots up to here have given their room back, as far as this process knows. */
  sweptSlot: number;
  readonly tail: TailEntry[] = [];
  slot: number;
  digest: string;
  lastSeq: number;
  epoch: number;
  released: number;
  isClosed: boolean;
  isRemoved: boolean;
  due: EntryDue | null;
  /** What is wrong with what comes after; up to here the log is whole. */
  damage: AgentError | undefined;
  /** The damage that a reader found in what is known. */
  flaw: AgentError | undefined;
  /** Batch id -> seq of its last fact, of the segments. Absent until it is needed. */
  #segmentBatches: Map<string, number> | undefined;
  readonly #tailBatches = new Map<string, number>();

  constructor(checkpoint: Checkpoint, etag: string | undefined) {
    this.checkpoint = checkpoint;
    this.checkpointEtag = etag;
    this.sweptSlot = checkpoint.sweptSlot;
    ({
      slot: this.slot,
      digest: this.digest,
      lastSeq: this.lastSeq,
      epoch: this.epoch,
      released: this.released,
      isClosed: this.isClosed,
      isRemoved: this.isRemoved,
      due: this.due,
    } = checkpoint);
  }

  /** Takes the next entry in. */
  apply(entry: Entry): void {
    const before = this.digest;
    this.slot = entry.slot;
    this.digest = entry.digest;
    const to = entry.from + entry.factCount - 1;
    if (entry.removed) this.#forget();
    else if (entry.factCount > 0) this.lastSeq = to;
    const sizeBytes = entry.lines.reduce((sum, line) => sum + line.length, 0);
    this.tail.push({ slot: entry.slot, from: entry.from, to, batchId: entry.batchId, sizeBytes, before, digest: entry.digest });
    if (entry.batchId !== undefined) this.#tailBatches.set(entry.batchId, to);
    if (entry.claim) this.epoch = entry.claim.epoch;
    if (entry.released !== undefined) this.released = entry.released;
    if (entry.due !== undefined) this.due = entry.due;
    if (entry.closes) this.isClosed = true;
  }

  /** True once the batches of all segments are known. */
  get knowsBatches(): boolean {
    return this.#segmentBatches !== undefined || this.checkpoint.segments.length === 0;
  }

  learnBatches(ids: Iterable<readonly [string, number]>): void {
    this.#segmentBatches = new Map(ids);
  }

  lastSeqOf(batchId: string): number | undefined {
    return this.#tailBatches.get(batchId) ?? this.#segmentBatches?.get(batchId);
  }

  /** Stands on a newer checkpoint from now on, which covers part of what is known. Its batches must be known. */
  compacted(checkpoint: Checkpoint, etag: string): void {
    this.checkpoint = checkpoint;
    this.checkpointEtag = etag;
    this.#segmentBatches ??= new Map();
    const covered = this.tail.findIndex(({ slot }) => slot > checkpoint.slot);
    for (const { batchId, to } of this.tail.splice(0, covered < 0 ? this.tail.length : covered)) {
      if (batchId === undefined) continue;
      this.#tailBatches.delete(batchId);
      this.#segmentBatches.set(batchId, to);
    }
  }

  /** All that a checkpoint at the tail holds, its segments apart. */
  summary(): Omit<Checkpoint, "segments"> {
    const { slot, digest, lastSeq, epoch, released, isClosed, isRemoved, due, sweptSlot } = this;
    return { slot, digest, lastSeq, epoch, released, isClosed, isRemoved, due, sweptSlot };
  }

  /** What an append would be answered if this is the newest state; `undefined`: it may be written. */
  judge({ epoch, batchId, expectedSeq }: AppendRequest): AppendOutcome | undefined {
    if (epoch !== undefined && epoch !== this.epoch) return { type: "fenced", currentEpoch: this.epoch };
    const written = this.lastSeqOf(batchId);
    if (written !== undefined) return { type: "dup", lastSeq: written };
    if (this.isClosed || this.isRemoved) return { type: "closed" };
    return expectedSeq === this.lastSeq ? undefined : { type: "conflict", actualSeq: this.lastSeq };
  }

  #forget(): void {
    this.isRemoved = true;
    this.lastSeq = 0;
    this.tail.length = 0;
    this.#tailBatches.clear();
    this.#segmentBatches = new Map();
    this.due = null;
  }
}
