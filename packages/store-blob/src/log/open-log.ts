/*
 * Owns: what this process knows of one log, and the order of its own calls on it.
 * Invariants
 *  I1 a slot is written once, under the condition that nothing is there; then it stays taken for ever: compaction and removal leave an
 *     empty object. Where this process is the only writer it is deleted instead, and no other writer can come too late.
 *  I2 what is known is a prefix of the log, and is looked for before a write where no other process writes: the folder may have been restored. So a write to the slot after it succeeds only if it is the whole log.
 *  I3 calls on one log run one after the other; those of other processes meet at the slot.
 */
import { AgentError, isAgentError } from "@loopwright/core";
import type { Clock, SessionRef } from "@loopwright/core/ports";
import type { ConditionalBlobs, StoredObject } from "../conditional-blobs.ts";
import { type LogKeys, logKeysOf, slotOfKey } from "../object-keys.ts";
import { storeLimits } from "../store-limits.ts";
import { idsKey, noCheckpoint, openCheckpoint, openIds } from "./checkpoint.ts";
import { markDamage, markedDamage } from "./damage-mark.ts";
import { openEntry } from "./log-entry.ts";
import { LogState } from "./log-state.ts";
import { damaged } from "./sealed-object.ts";
import type { SegmentCache } from "./segment-cache.ts";
import { sessionObjects } from "./session-objects.ts";

export interface OpenLogDeps {
  readonly blobs: ConditionalBlobs;
  readonly clock: Clock;
  /** How long a call keeps trying. */
  readonly deadlineMs: number;
}

/** One log as this process knows it. */
export class OpenLog {
  readonly ref: SessionRef;
  readonly keys: LogKeys;
  readonly deps: OpenLogDeps;
  readonly segments: SegmentCache;
  readonly listeners: Set<(lastSeq: number) => void> = new Set();
  /** The outcome of a write of ours is not known: even the only writer has to look. */
  isUncertain = false;
  isCompacting = false;
  /** It is known to bear the mark of damage. */
  isMarked = false;
  #state: LogState | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #pending = 0;
  #holders = 0;

  constructor(ref: SessionRef, deps: OpenLogDeps, segments: SegmentCache) {
    this.ref = ref;
    this.segments = segments;
    this.keys = logKeysOf(ref);
    this.deps = { ...deps, blobs: sessionObjects(deps.blobs) };
  }

  /** True when no call uses it: it may be dropped from memory. */
  get isIdle(): boolean {
    return this.#pending === 0 && this.#holders === 0 && this.listeners.size === 0;
  }

  /** Does the work when all earlier work on this log is done. */
  run<T>(work: () => Promise<T>): Promise<T> {
    this.#pending++;
    const done = this.#queue.then(work).finally(() => this.#pending--);
    this.#queue = done.catch(() => undefined);
    return done;
  }

  /** Does work of several steps, between which others may come; meanwhile the log is not forgotten. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.#holders++;
    try {
      return await work();
    } finally {
      this.#holders--;
    }
  }

  /** What was known last; opened at the first call. */
  async known(): Promise<LogState> {
    this.#state ??= await this.#open();
    return this.#state;
  }

  /** What the log is now. */
  async current(): Promise<LogState> {
    if (!this.#state) return this.known();
    if (this.deps.blobs.exclusive && !this.isUncertain) return this.#state;
    return this.advance();
  }

  /** Reads what was written after what is known. */
  async advance(): Promise<LogState> {
    const state = this.#state ? await this.#walk(this.#state) : await this.#open();
    this.#state = state;
    this.isUncertain = false;
    return state;
  }

  /**
   * Where no other process writes, the end of what is known has to be there still: a folder that was restored to an older state has lost it, and what is
   * written behind the gap is lost to the process that opens the log next. @throws AgentError SESSION_CORRUPT
   */
  async expectTail(): Promise<void> {
    const { blobs } = this.deps;
    const state = await this.known();
    if (!blobs.exclusive || state.slot === 0 || state.damage || state.flaw) return;
    const isCompacted = state.slot === state.checkpoint.slot;
    const isThere = isCompacted
      ? (await this.get(this.keys.checkpoint))?.etag === state.checkpointEtag
      : await blobs.has(this.keys.slot(state.slot));
    if (!isThere) await this.reopen();
  }

  /** Looks at everything anew. What is found has to continue what was known. @throws AgentError SESSION_CORRUPT */
  async reopen(): Promise<LogState> {
    const before = this.#state;
    this.#state = undefined;
    const state = await this.known();
    if (!before || before.damage || state.damage || this.#continues(state, before)) return state;
    this.#state = before;
    before.flaw ??= damaged(this.keys.slot(before.slot));
    await markDamage(this, before.flaw);
    throw before.flaw;
  }

  /** False when a log is seen to be another one than before: shorter, or with another entry where its tail was. */
  #continues(state: LogState, before: LogState): boolean {
    // A place of many writers may be a moment behind.
    if (state.slot < before.slot) return this.deps.blobs.exclusive === undefined;
    if (state.slot === before.slot) return state.digest === before.digest;
    const entry = state.tail.find(({ slot }) => slot === before.slot);
    // What a checkpoint covers is not there to be compared.
    return entry === undefined || entry.digest === before.digest;
  }

  replace(state: LogState): void {
    this.#state = state;
  }

  /** Learns the ids of all batches. @throws AgentError SESSION_CORRUPT */
  async withBatches(state: LogState): Promise<LogState> {
    if (state.knowsBatches) return state;
    const { segments } = state.checkpoint;
    const found = await this.#marking(() => Promise.all(segments.map((segment) => this.get(idsKey(this.keys.segments, segment)))));
    if (found.some((object) => !object)) {
      // Merged into others meanwhile; or lost.
      const fresh = await this.reopen();
      if (fresh.checkpoint.slot <= state.checkpoint.slot) throw damaged(this.keys.segments);
      return this.withBatches(fresh);
    }
    const ids = await this.#marking(async () =>
      segments.map((segment, at) => openIds(found[at]?.bytes ?? new Uint8Array(), segment, this.keys.segments)),
    );
    state.learnBatches(ids.flat());
    return state;
  }

  /** An object of this log. @throws AgentError SESSION_CORRUPT where the place reports that it is damaged */
  get(key: string): Promise<StoredObject | undefined> {
    return this.deps.blobs.get(key);
  }

  /** Looks whether another process has seen damage since the log was opened. */
  async lookForMark(): Promise<void> {
    const state = await this.known();
    if (!state.isRemoved && (await this.deps.blobs.has(this.keys.damage))) state.flaw ??= markedDamage(this);
  }

  async #open(): Promise<LogState> {
    const state = await this.#walk(await this.#marking(() => this.#load()));
    return state.damage ? state : this.#checkForGap(state);
  }

  /** Reads, and marks what damage it comes upon. What is only missing may be on its way, and shows at every opening. */
  async #marking<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      if (isAgentError(error, "SESSION_CORRUPT")) await markDamage(this, error);
      throw error;
    }
  }

  async #load(): Promise<LogState> {
    const { checkpoint: key } = this.keys;
    const object = await this.get(key);
    return object ? new LogState(openCheckpoint(object.bytes, key), object.etag) : new LogState(noCheckpoint, undefined);
  }

  async #walk(from: LogState): Promise<LogState> {
    let state = from;
    state.damage = undefined;
    try {
      // The more there is, the more is asked for at once.
      for (let ahead = 1; ; ahead = Math.min(storeLimits.parallelMax, ahead * 4)) {
        const keys = Array.from({ length: ahead }, (_, index) => this.keys.slot(state.slot + 1 + index));
        const found = await Promise.allSettled(keys.map((key) => this.get(key)));
        for (const [index, outcome] of found.entries()) {
          if (outcome.status === "rejected") throw outcome.reason;
          if (!outcome.value) return state;
          const key = keys[index] ?? "";
          if (outcome.value.bytes.length > 0) {
            state.apply(openEntry(outcome.value.bytes, { key, before: state.digest }));
            continue;
          }
          // Behind a checkpoint that we have not seen.
          const fresh = await this.#load();
          if (fresh.slot <= state.slot) {
            state.damage = damaged(key);
            return state;
          }
          fresh.flaw = state.flaw;
          state = fresh;
          break;
        }
      }
    } catch (error) {
      if (!isAgentError(error, "SESSION_CORRUPT")) throw error;
      state.damage = error;
      await markDamage(this, error);
      return state;
    }
  }

  /** Nothing may lie beyond the tail but the mark of damage: else a piece before it is missing. */
  async #checkForGap(state: LogState): Promise<LogState> {
    const { blobs } = this.deps;
    const isNew = state.slot === 0;
    let known = state;
    for (let tries = 0; tries < storeLimits.readTriesMax; tries++) {
      const page = await blobs.list(
        isNew ? this.keys.root : this.keys.slots,
        isNew ? { limit: 2 } : { after: this.keys.slot(known.slot), limit: 2 },
      );
      if (!known.isRemoved && page.objects.some(({ key }) => key === this.keys.damage)) known.flaw = markedDamage(this);
      const beyond = page.objects.find(({ key }) => key !== this.keys.damage);
      if (!beyond) return known;
      const before = known.slot;
      known = await this.#walk(isNew ? await this.#load() : known);
      // Another process was writing while we looked.
      if (known.damage || (beyond.key.startsWith(this.keys.slots) && slotOfKey(beyond.key) <= known.slot) || known.slot > before)
        return known;
      await this.pause(tries);
    }
    known.damage = new AgentError("SESSION_CORRUPT", {
      message: `The log of session \`${this.ref.session}\` is damaged: a piece after fact ${known.lastSeq} is missing.`,
      details: { seq: known.lastSeq + 1 },
    });
    return known;
  }

  /** Waits a little before another try; longer from time to time. */
  pause(tries: number): Promise<void> {
    return new Promise((resolve) => this.deps.clock.after(Math.min(storeLimits.pauseMsMax, 2 ** tries * 5), resolve));
  }
}

/** The state, unless the log is damaged. @throws AgentError SESSION_CORRUPT */
export function wholeState(state: LogState): LogState {
  const wrong = state.flaw ?? state.damage;
  if (wrong) throw wrong;
  return state;
}
