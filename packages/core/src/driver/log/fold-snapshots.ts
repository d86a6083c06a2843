/*
 * Owns: the snapshots of one session's fold beside its log: when one is written, and whether one is believed.
 * Does not own: what a state is taken apart into (loop/state-image), its drafts (fold-head, fold-chunks).
 * Invariants
 *  F1 never authoritative: whatever is wrong with a snapshot, the state comes from the log, and operators are told;
 *  F2 never waited for: one is written when there is nothing else to do, and that it cannot be written changes nothing;
 *  F3 a snapshot costs what is new: chunks are written once, under names that no other content has, and the head last.
 */
import type { Fact } from "../../loop/fact.ts";
import { foldAll, foldVersion } from "../../loop/fold.ts";
import { emptyState, type State } from "../../loop/state.ts";
import { growthOf, lengthsOf, noLengths, stateDigest } from "../../loop/state-image.ts";
import type { EventCursor } from "../../protocol/cursor.ts";
import type { Deps } from "../setup/deps.ts";
import { storeError } from "../setup/session-errors.ts";
import { snapshotLimits } from "../setup/snapshot-limits.ts";
import { chunkName, fitWithin, writeChunks } from "./fold-chunks.ts";
import { type FoldHead, factDigest, headName, headOf, readHead, readState, writeHead } from "./fold-head.ts";
import { type UnderstoodFacts, understandFacts } from "./understand-facts.ts";

/** Where the fold of a log goes on. */
export interface LoadedFold extends UnderstoodFacts {
  /** What the facts are to be folded onto. */
  readonly base: State;
  /** The last event that was told up to `base`; `undefined` where nobody knows. */
  readonly told: EventCursor | undefined;
}

export interface FoldSnapshots {
  /** The log from its start: from a snapshot that ends at `lastSeq` or before, where there is one to be believed. @throws as `readNews` */
  load(lastSeq: number): Promise<LoadedFold>;
  /** The owner has appended so many bytes. */
  grew(bytes: number): void;
  /** Nothing is left to do at once in this state: writes a snapshot, where it is time for one. */
  heed(state: State, told: EventCursor | undefined): void;
  /** What was known of the log is void. */
  forget(): void;
}

type Parts = Pick<Deps, "store" | "ref" | "sessionId" | "ids" | "logger" | "snapshotCheckShare">;

/** No event has this cursor. */
const beforeAll: EventCursor = { seq: 0, k: 0 };

export function createFoldSnapshots(parts: Parts): FoldSnapshots {
  return new Snapshots(parts);
}

class Snapshots implements FoldSnapshots {
  readonly #parts: Parts;
  /** The last snapshot that was read or written. */
  #last: FoldHead | undefined;
  /** Where the next one is counted from. */
  #fromSeq = 0;
  #bytes = 0;
  #isBusy = false;
  /** What lies there is wrong: nothing is written onto it. */
  #isDistrusted = false;
  /** How often all was forgotten. */
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

  heed(state: State, told: EventCursor | undefined): void {
    const { facts, bytes } = snapshotLimits;
    if (this.#isBusy || this.#parts.snapshotCheckShare === undefined || this.#bytes === 0) return;
    if (state.seq - this.#fromSeq < facts && this.#bytes < bytes) return;
    this.#isBusy = true;
    this.#fromSeq = state.seq;
    this.#bytes = 0;
    const done = (): void => {
      this.#isBusy = false;
    };
    this.#write(state, told).then(done, (error: unknown) => {
      done();
      this.#tell("warn", "A snapshot could not be written; the log has everything.", storeError(error).code);
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
    return { base: emptyState, told: beforeAll, ...(await this.#understand(read, 0)) };
  }

  #understand(read: readonly Fact[], after: number): Promise<UnderstoodFacts> {
    const { store, ref, sessionId } = this.#parts;
    // A new session has no facts, and one in memory no blobs before they are asked for.
    if (read.length === 0) return Promise.resolve({ facts: [] });
    return understandFacts(read, { blobs: store.blobs, scope: ref.scope, sessionId, after });
  }

  async #fromSnapshot(lastSeq: number): Promise<LoadedFold | undefined> {
    const { store, ref, ids, snapshotCheckShare = 0 } = this.#parts;
    const head = await this.#readHead();
    if (!head || head.seq > lastSeq) return undefined;
    const [tail, base] = await Promise.all([store.log.read(ref, { from: head.seq }), this.#orFlaw(() => readState(this.#parts, head))]);
    const [fact, ...news] = tail;
    if (typeof base === "string") return this.#distrust(base);
    if (!fact) return this.#distrust("the log ends before it");
    if (fact.seq !== head.seq || factDigest(fact) !== head.fact) return this.#distrust("the log has another fact at its end");
    const loaded: LoadedFold = { base, told: head.told, ...(await this.#understand(news, head.seq)) };
    if (ids.random() < snapshotCheckShare && !(await this.#isTrue(base))) return undefined;
    this.#last = head;
    this.#fromSeq = head.seq;
    return loaded;
  }

  /** Whether the log folds to the same. */
  async #isTrue(base: State): Promise<boolean> {
    const { store, ref } = this.#parts;
    const { facts } = await this.#understand(await store.log.read(ref, { from: 1, limit: base.seq }), 0);
    if (stateDigest(foldAll(emptyState, facts)) === stateDigest(base)) return true;
    this.#distrust("the log folds to something else");
    return false;
  }

  /** The head, where it is one of ours. */
  async #readHead(): Promise<FoldHead | undefined> {
    const head = await this.#orFlaw(() => readHead(this.#parts));
    if (typeof head === "string") return this.#distrust(head);
    return head?.fold === foldVersion ? head : undefined;
  }

  /** A sentence where reading fails: the log is asked next, and says what is to be said of the store. */
  async #orFlaw<T>(read: () => Promise<T>): Promise<T | string> {
    try {
      return await read();
    } catch (error) {
      return `reading it failed with ${storeError(error).code}`;
    }
  }

  #distrust(flaw: string): undefined {
    this.#isDistrusted = true;
    this.#tell("error", "A snapshot is wrong and was not used; the session was made anew from its log.", flaw);
  }

  #tell(level: "warn" | "error", message: string, reason: string): void {
    this.#parts.logger.log(level, message, { session: this.#parts.ref.session, scope: this.#parts.ref.scope, reason });
  }

  async #write(state: State, told: EventCursor | undefined): Promise<void> {
    const { store, ref } = this.#parts;
    const generation = this.#generation;
    // As the log has it: it may hold references where the state has what they stand for.
    const [fact] = await store.log.read(ref, { from: state.seq, limit: 1 });
    if (fact?.seq !== state.seq) return;
    const lying = this.#last ?? (await readHead(this.#parts));
    const before = typeof lying === "object" && (lying === this.#last || (await this.#continues(lying, state))) ? lying : undefined;
    const { chunks, lengths } = before ?? { chunks: [], lengths: noLengths };
    const added = await writeChunks(this.#parts, growthOf(state, lengths), chunks.length);
    const head = { ...headOf(state, fact, [...chunks, ...added]), ...(told ? { told } : {}) };
    await writeHead(this.#parts, head);
    // What was read again since may be another history.
    if (generation === this.#generation) {
      this.#last = head;
      this.#isDistrusted = false;
    }
    if (typeof lying === "object" && !before) await this.#removeChunks(lying.chunks, head.chunks);
    // Removed meanwhile: nothing of it may stay behind.
    if ((await store.log.head(ref)).lastSeq < state.seq) {
      await store.drafts.remove(ref, headName);
      await this.#removeChunks(head.chunks, []);
    }
  }

  /** Whether what another handle has written can be written on. */
  async #continues(head: FoldHead, state: State): Promise<boolean> {
    if (this.#isDistrusted || head.fold !== foldVersion || head.seq > state.seq || !fitWithin(head.lengths, lengthsOf(state))) return false;
    const { store, ref } = this.#parts;
    const [fact] = await store.log.read(ref, { from: head.seq, limit: 1 });
    return fact !== undefined && factDigest(fact) === head.fact;
  }

  async #removeChunks(digests: readonly string[], kept: readonly string[]): Promise<void> {
    const { store, ref } = this.#parts;
    for (const [place, digest] of digests.entries()) if (kept[place] !== digest) await store.drafts.remove(ref, chunkName(place, digest));
  }
}
