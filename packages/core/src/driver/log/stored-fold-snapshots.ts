/*
 * Owns: the snapshots of one session's state, stored beside its log: when one is written, and whether a stored one is valid.
 * Does not own: how a state is divided into parts (loop/split-state-for-snapshot), how the parts are stored (fold-snapshot-head, fold-snapshot-chunks).
 * Invariants
 *  F1 never authoritative: if a snapshot is invalid, the state is folded from the log, and an error is logged for operators;
 *  F2 never waited for: a snapshot is written when the session has nothing else to do, and a failed write only logs a warning;
 *  F3 a snapshot writes only what is new: each chunk once, under a name that no other content has, and then the head.
 */
import type { Fact } from "../../loop/fact.ts";
import { foldAll, foldVersion } from "../../loop/fold.ts";
import { growthOf, lengthsOf, noLengths, stateDigest } from "../../loop/split-state-for-snapshot.ts";
import { emptyState, type State } from "../../loop/state.ts";
import type { EventCursor } from "../../protocol/cursor.ts";
import { snapshotLimits } from "../setup/fold-snapshot-limits.ts";
import type { Deps } from "../setup/session-deps.ts";
import { storeError } from "../setup/session-errors.ts";
import { type DecodedFacts, decodeFacts } from "./decode-facts.ts";
import { chunkName, fitWithin, writeChunks } from "./fold-snapshot-chunks.ts";
import { type FoldHead, factDigest, headName, headOf, readHead, readState, writeHead } from "./fold-snapshot-head.ts";

/** A state from which to fold, and the facts to fold onto it. */
export interface LoadedFold extends DecodedFacts {
  /** The state before the first of the facts. */
  readonly base: State;
  /** Cursor of the last durable event up to `base`; `undefined` if the snapshot does not have it. */
  readonly lastEvent: EventCursor | undefined;
}

export interface StoredSnapshots {
  /** Loads the whole log: a valid snapshot that ends at `lastSeq` or before and the facts after it, or else all facts. @throws as `readNewFacts` */
  load(lastSeq: number): Promise<LoadedFold>;
  /** Counts bytes that the owner has appended: they decide when the next snapshot is due. */
  grew(bytes: number): void;
  /** Called when nothing is left to do now in this state: writes a snapshot if one is due. */
  onState(state: State, lastEvent: EventCursor | undefined): void;
  /** Drops what is known about the log, because the log is going to be read again. */
  forget(): void;
}

type Parts = Pick<Deps, "store" | "ref" | "sessionId" | "ids" | "logger" | "snapshotCheckShare">;

/** A cursor before that of every event. */
const beforeAll: EventCursor = { seq: 0, k: 0 };

export function createStoredSnapshots(parts: Parts): StoredSnapshots {
  return new Snapshots(parts);
}

class Snapshots implements StoredSnapshots {
  readonly #parts: Parts;
  /** The last snapshot that was read or written. */
  #last: FoldHead | undefined;
  /** The next snapshot is due when enough facts follow `#fromSeq`, or `#bytes` is large enough. */
  #fromSeq = 0;
  #bytes = 0;
  #isBusy = false;
  /** True if the stored snapshot is invalid: the next snapshot does not extend it. */
  #isDistrusted = false;
  /** How often `forget` was called. */
  #generation = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  forget(): void {
    this.#generation += 1;
    this.#last = undefined;
    this.#fromSeq = this.#bytes = 0;
  }

  grew(bytes: number): void {
    this.#bytes += bytes;
  }

  onState(state: State, lastEvent: EventCursor | undefined): void {
    const { facts, bytes } = snapshotLimits;
    if (this.#isBusy || this.#parts.snapshotCheckShare === undefined || this.#bytes === 0) return;
    if (state.seq - this.#fromSeq < facts && this.#bytes < bytes) return;
    this.#isBusy = true;
    this.#fromSeq = state.seq;
    this.#bytes = 0;
    const done = (): void => {
      this.#isBusy = false;
    };
    this.#write(state, lastEvent).then(done, (error: unknown) => {
      done();
      this.#log("warn", "A snapshot could not be written; the log has everything.", storeError(error).code);
    });
  }

  async load(lastSeq: number): Promise<LoadedFold> {
    const { log } = this.#parts.store;
    const { ref, snapshotCheckShare } = this.#parts;
    const { facts: limit } = snapshotLimits;
    const page = await log.read(ref, snapshotCheckShare === undefined ? { from: 1 } : { from: 1, limit });
    if (snapshotCheckShare === undefined || page.length < limit) return this.#fromStart(page);
    const loaded = await this.#fromSnapshot(lastSeq);
    return loaded ?? this.#fromStart([...page, ...(await log.read(ref, { from: page.length + 1 }))]);
  }

  async #fromStart(read: readonly Fact[]): Promise<LoadedFold> {
    return { base: emptyState, lastEvent: beforeAll, ...(await this.#understand(read, 0)) };
  }

  #understand(read: readonly Fact[], after: number): Promise<DecodedFacts> {
    const { store, ref, sessionId } = this.#parts;
    // Returns before `store.blobs` is used: a store in memory creates its blobs on first use, and a new session needs none.
    if (read.length === 0) return Promise.resolve({ facts: [] });
    return decodeFacts(read, { blobs: store.blobs, scope: ref.scope, sessionId, after });
  }

  async #fromSnapshot(lastSeq: number): Promise<LoadedFold | undefined> {
    const { store, ref, ids, snapshotCheckShare = 0 } = this.#parts;
    const head = await this.#readHead();
    if (!head || head.seq > lastSeq) return undefined;
    const [tail, base] = await Promise.all([store.log.read(ref, { from: head.seq }), this.#orFlaw(() => readState(this.#parts, head))]);
    const [fact, ...news] = tail;
    if (typeof base === "string") return this.#distrust(base);
    if (!fact) return this.#distrust("the log ends before the snapshot does");
    if (fact.seq !== head.seq || factDigest(fact) !== head.fact) return this.#distrust("the last fact of the snapshot is not in the log");
    const loaded: LoadedFold = { base, lastEvent: head.published, ...(await this.#understand(news, head.seq)) };
    if (ids.random() < snapshotCheckShare && !(await this.#isTrue(base))) return undefined;
    this.#last = head;
    this.#fromSeq = head.seq;
    return loaded;
  }

  /** True if folding the log gives the same state. */
  async #isTrue(base: State): Promise<boolean> {
    const { store, ref } = this.#parts;
    const { facts } = await this.#understand(await store.log.read(ref, { from: 1, limit: base.seq }), 0);
    if (stateDigest(foldAll(emptyState, facts)) === stateDigest(base)) return true;
    this.#distrust("folding the log gives another state");
    return false;
  }

  /** The head, if it is valid and of this version of the fold. */
  async #readHead(): Promise<FoldHead | undefined> {
    const head = await this.#orFlaw(() => readHead(this.#parts));
    if (typeof head === "string") return this.#distrust(head);
    return head?.fold === foldVersion ? head : undefined;
  }

  /** Returns a text if reading fails: the log is read next, and that read throws if the store is at fault. */
  async #orFlaw<T>(read: () => Promise<T>): Promise<T | string> {
    try {
      return await read();
    } catch (error) {
      return `reading the snapshot failed with ${storeError(error).code}`;
    }
  }

  #distrust(flaw: string): undefined {
    this.#isDistrusted = true;
    this.#log("error", "A snapshot is invalid and was not used; the state is folded from the log instead.", flaw);
  }

  #log(level: "warn" | "error", message: string, reason: string): void {
    this.#parts.logger.log(level, message, { session: this.#parts.ref.session, scope: this.#parts.ref.scope, reason });
  }

  async #write(state: State, lastEvent: EventCursor | undefined): Promise<void> {
    const { store, ref } = this.#parts;
    const generation = this.#generation;
    // The fact is read from the log, because the digest is of its stored form, which may have references in place of large values.
    const [fact] = await store.log.read(ref, { from: state.seq, limit: 1 });
    if (fact?.seq !== state.seq) return;
    const lying = this.#last ?? (await readHead(this.#parts));
    const before = typeof lying === "object" && (lying === this.#last || (await this.#continues(lying, state))) ? lying : undefined;
    const { chunks, lengths } = before ?? { chunks: [], lengths: noLengths };
    const added = await writeChunks(this.#parts, growthOf(state, lengths), chunks.length);
    const head = { ...headOf(state, fact, [...chunks, ...added]), ...(lastEvent ? { published: lastEvent } : {}) };
    await writeHead(this.#parts, head);
    // After a `forget`, the log may have been read again with another history.
    if (generation === this.#generation) {
      this.#last = head;
      this.#isDistrusted = false;
    }
    if (typeof lying === "object" && !before) await this.#removeChunks(lying.chunks, head.chunks);
    // If the session was removed during the write, no part of its snapshot may stay in the store.
    if ((await store.log.head(ref)).lastSeq < state.seq) {
      await store.snapshots.remove(ref, headName);
      await this.#removeChunks(head.chunks, []);
    }
  }

  /** True if a stored snapshot, perhaps of another handle, can be extended to this state. */
  async #continues(head: FoldHead, state: State): Promise<boolean> {
    if (this.#isDistrusted || head.fold !== foldVersion || head.seq > state.seq || !fitWithin(head.lengths, lengthsOf(state))) return false;
    const { store, ref } = this.#parts;
    const [fact] = await store.log.read(ref, { from: head.seq, limit: 1 });
    return fact !== undefined && factDigest(fact) === head.fact;
  }

  async #removeChunks(digests: readonly string[], kept: readonly string[]): Promise<void> {
    const { store, ref } = this.#parts;
    for (const [index, digest] of digests.entries())
      if (kept[index] !== digest) await store.snapshots.remove(ref, chunkName(index, digest));
  }
}
