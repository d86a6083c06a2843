/*
 * Owns: when the view of a session is written, and what is kept in memory to write it cheaply. Does not own: the log.
 * Invariants
 *  V1 the view of a session is written when the session rests, and at most once a second;
 *  V2 writes of one session run one after the other, so an older view never replaces a newer one of this process;
 *  V3 a write that meets a removal deletes its view again.
 */
import { type Fact, foldSession, type SessionFold } from "@loopwright/core";
import { type Clock, refKey, type SessionRef, type SessionStore } from "@loopwright/core/ports";
import { projectSession, type SessionProjection } from "@loopwright/core/stores";
import { viewKeyOf, viewOf } from "./conversation-view.ts";

/** A place for the views: `fileBlobs` and `s3Blobs` of `@loopwright/store-blob` are such places, each beside the store or apart from it. */
export interface ViewPlace {
  /** `isPlain`: other programs read it, so it is stored as exactly these bytes. */
  put(
    key: string,
    bytes: Uint8Array,
    options: { readonly mediaType: string; readonly isDurable: false; readonly isPlain: true },
  ): Promise<unknown>;
  remove(key: string, options: { readonly isDurable: true }): Promise<void>;
}

export interface ConversationViewsDeps {
  readonly store: Pick<SessionStore, "log" | "blobs">;
  readonly place: ViewPlace;
  readonly clock: Clock;
}

/** The least time between two views of one session, in milliseconds. */
const everyMs = 1_000;
/** Sessions whose conversation is kept folded in memory. */
const foldsMax = 32;
/** Sessions whose status is kept in memory. */
const projectionsMax = 1_000;
/** Facts of one read. */
const factsPerRead = 1_000;

/** Writes the view of each session that is written to. */
export class ConversationViews {
  readonly #deps: ConversationViewsDeps;
  readonly #folds = new Map<string, SessionFold>();
  readonly #projections = new Map<string, SessionProjection>();
  readonly #waiting = new Map<string, { readonly ref: SessionRef; readonly cancel: () => void }>();
  /** When a view was last written, by the monotonic clock. */
  readonly #writtenAt = new Map<string, number>();
  readonly #writing = new Map<string, Promise<void>>();

  constructor(deps: ConversationViewsDeps) {
    this.#deps = deps;
  }

  /** To be called after each append of this process, with the facts that were written; without any where that is not known. */
  appended(ref: SessionRef, facts: readonly Fact[]): void {
    const name = refKey(ref);
    const before = this.#projections.get(name);
    const isNext = facts[0]?.seq === (before?.summary.lastSeq ?? 0) + 1;
    if (isNext) keepNewest(this.#projections, { name, value: projectSession(ref.session, before, facts), most: projectionsMax });
    else this.#projections.delete(name);
    if (this.#projections.get(name)?.summary.status === "running" || this.#waiting.has(name)) return;
    const { clock } = this.#deps;
    const lastAt = this.#writtenAt.get(name);
    const waitMs = lastAt === undefined ? 0 : Math.max(0, lastAt + everyMs - clock.monotonic());
    if (waitMs === 0) this.#write(ref);
    else this.#waiting.set(name, { ref, cancel: clock.after(waitMs, () => this.#write(ref), { idle: true }) });
  }

  /** Deletes the view of a session and what is kept of it. @throws AgentError STORE_* */
  async remove(ref: SessionRef): Promise<void> {
    const name = refKey(ref);
    this.#waiting.get(name)?.cancel();
    for (const kept of [this.#waiting, this.#writtenAt, this.#folds, this.#projections]) kept.delete(name);
    await this.#writing.get(name);
    await this.#deps.place.remove(viewKeyOf(ref), { isDurable: true });
  }

  /** Writes at once what still waits for its time, and waits for all writes. */
  async close(): Promise<void> {
    for (const { ref, cancel } of this.#waiting.values()) {
      cancel();
      this.#write(ref);
    }
    await Promise.all(this.#writing.values());
  }

  #write(ref: SessionRef): void {
    const name = refKey(ref);
    this.#waiting.delete(name);
    this.#noteWrite(name, this.#deps.clock.monotonic());
    const before = this.#writing.get(name) ?? Promise.resolve();
    // A view that cannot be written is written when the session rests again: nothing depends on it.
    const done: Promise<void> = before
      .then(() => this.#writeNow(ref))
      .catch(() => undefined)
      .then(() => {
        if (this.#writing.get(name) === done) this.#writing.delete(name);
      });
    this.#writing.set(name, done);
  }

  async #writeNow(ref: SessionRef): Promise<void> {
    const { store, place } = this.#deps;
    const name = refKey(ref);
    const fold = this.#folds.get(name) ?? foldSession(ref, store.blobs);
    keepNewest(this.#folds, { name, value: fold, most: foldsMax });
    for (;;) {
      const facts = await store.log.read(ref, { from: fold.seq + 1, limit: factsPerRead });
      if (facts.length === 0) break;
      await fold.add(facts);
    }
    if (fold.seq === 0) return;
    const view = viewOf(fold.snapshot(), { scope: ref.scope, lastSeq: fold.seq });
    if (!view) {
      // Nothing was written, so the view that follows need not wait.
      this.#writtenAt.delete(name);
      return;
    }
    const bytes = new TextEncoder().encode(`${JSON.stringify(view)}\n`);
    await place.put(viewKeyOf(ref), bytes, { mediaType: "application/json", isDurable: false, isPlain: true });
    // A removal of another process may have looked for the view before it was there.
    if ((await store.log.head(ref)).lastSeq > 0) return;
    this.#folds.delete(name);
    await place.remove(viewKeyOf(ref), { isDurable: true });
  }

  #noteWrite(name: string, at: number): void {
    this.#writtenAt.delete(name);
    this.#writtenAt.set(name, at);
    for (const [oldest, writtenAt] of this.#writtenAt) {
      if (writtenAt + everyMs > at) return;
      this.#writtenAt.delete(oldest);
    }
  }
}

/** Sets an entry as the newest, and drops the oldest over the limit. */
function keepNewest<Value>(
  kept: Map<string, Value>,
  { name, value, most }: { readonly name: string; readonly value: Value; readonly most: number },
): void {
  kept.delete(name);
  kept.set(name, value);
  const [oldest] = kept.keys();
  if (kept.size > most && oldest !== undefined) kept.delete(oldest);
}
