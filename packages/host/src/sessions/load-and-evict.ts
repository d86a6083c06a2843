/*
 * Owns: the sessions that are loaded in this process, their users, and their eviction.
 * Does not own: how a session is loaded or created (the loader), what is kept beside it (the listeners of `onLoad`).
 * Invariants
 *  L1 a session stays loaded while it has a user or runs here; after that it is evicted when it has been idle for long, or when too many are loaded;
 *  L2 a session without any fact is evicted with its last user: only sessions that the store has stay loaded;
 *  L3 after `close` nothing is held: a session that was still being opened is released.
 */
import { AgentError, type AgentSession } from "@loopwright/core";
import { type Clock, refKey, type SessionRef, type SessionStore } from "@loopwright/core/ports";
import type { HostLimits } from "../options/host-limits.ts";
import type { ClosedSessions, CloseOptions, HostedSession, LoadedSession } from "./session-host.ts";

export interface LoadedEntry {
  readonly ref: SessionRef;
  /** Name of its agent. */
  readonly agent: string;
  readonly session: AgentSession;
  users: number;
  /** By the monotonic clock, so that a change of the wall clock makes no session idle or busy. */
  idleSince: number;
  /** The last number of the log at the time of `idleSince`. */
  idleSeq: number;
  /** Called when the session is released. */
  readonly goneListeners: Set<() => void>;
  /** Ends the subscription that reports the rest and the loss of the session. */
  stop: () => void;
}

export interface LoadedParts {
  readonly store: SessionStore;
  readonly limits: Pick<HostLimits, "sessionIdleMs" | "sessionsLoaded">;
  readonly clock: Clock;
  /** Sessions run in this process. Default true. */
  readonly drives?: boolean;
}

/** The error of a request that comes after the host was closed. */
export const shuttingDown = (): AgentError => new AgentError("NOT_READY", { message: "The server is shutting down.", retryAfterMs: 2_000 });

const isUnused = ({ users }: LoadedEntry): boolean => users === 0;

/** True if the session runs here: it then stays loaded without users. */
const runsHere = ({ session }: LoadedEntry): boolean => session.isOwner && !session.isResting;

export class LoadedSessions {
  readonly #parts: LoadedParts;
  readonly #entries = new Map<string, LoadedEntry>();
  /** The sessions that rested when their last user left, the longest idle first. */
  readonly #unused = new Set<LoadedEntry>();
  readonly #loadListeners = new Set<(loaded: LoadedSession) => void>();
  #cancelSweep: (() => void) | undefined;
  #isClosed = false;

  constructor(parts: LoadedParts) {
    this.#parts = parts;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get count(): number {
    return this.#entries.size;
  }

  /** The number of sessions that run here. */
  get running(): number {
    let count = 0;
    for (const entry of this.#entries.values()) if (runsHere(entry)) count += 1;
    return count;
  }

  get(ref: SessionRef): LoadedEntry | undefined {
    return this.#entries.get(refKey(ref));
  }

  /** @throws AgentError NOT_READY after `close` */
  add({ ref, session, agent }: Pick<LoadedEntry, "ref" | "session" | "agent">): LoadedEntry {
    if (this.#isClosed) {
      void session[Symbol.asyncDispose]();
      throw shuttingDown();
    }
    const idleSince = this.#parts.clock.monotonic();
    const entry: LoadedEntry = { ref, agent, session, users: 0, idleSince, idleSeq: 0, goneListeners: new Set(), stop() {} };
    this.#entries.set(refKey(ref), entry);
    for (const listener of this.#loadListeners) listener(this.#shown(entry));
    entry.stop = this.#follow(entry);
    return entry;
  }

  onLoad(listener: (loaded: LoadedSession) => void): void {
    this.#loadListeners.add(listener);
    for (const entry of this.#entries.values()) listener(this.#shown(entry));
  }

  /** Keeps the session loaded until `leave`, even if it is idle. */
  use(entry: LoadedEntry): void {
    entry.users += 1;
    this.#unused.delete(entry);
  }

  leave(entry: LoadedEntry): void {
    entry.users -= 1;
    this.#noteQuiet(entry);
  }

  lend(entry: LoadedEntry): HostedSession {
    const release = this.#lendOnce(entry);
    const isGone = (): boolean => this.get(entry.ref) !== entry;
    return {
      get isGone() {
        return isGone();
      },
      ref: entry.ref,
      agent: entry.agent,
      session: entry.session,
      release,
    };
  }

  /** Releases the session at once: an open run is left to the next owner. */
  async drop(entry: LoadedEntry): Promise<void> {
    if (this.get(entry.ref) === entry) this.#entries.delete(refKey(entry.ref));
    this.#unused.delete(entry);
    entry.stop();
    for (const listener of entry.goneListeners) listener();
    entry.goneListeners.clear();
    await entry.session[Symbol.asyncDispose]();
  }

  /** Evicts the session if it has no user and does not run here. */
  async dropUnused(ref: SessionRef): Promise<void> {
    const entry = this.get(ref);
    if (entry && isUnused(entry) && !runsHere(entry)) await this.drop(entry);
  }

  /** With `handsOver` each open run is stopped at a point where another process can continue it. */
  async close({ handsOver = false }: CloseOptions = {}): Promise<ClosedSessions> {
    this.#isClosed = true;
    this.#cancelSweep?.();
    const { drives = true } = this.#parts;
    const entries = [...this.#entries.values()];
    const ran = entries.filter(runsHere).length;
    // A session whose claim is in progress does not run here yet: its lease is released too, and the session is offered to others.
    const left = drives ? entries.filter(({ session }) => !session.isResting) : [];
    // While the store is away the session cannot be handed over: another process claims it after its lease has expired.
    if (handsOver) await Promise.all(left.map(({ session }) => session.handOver().catch(() => {})));
    await Promise.all(entries.map((entry) => this.drop(entry)));
    return { ran, left: left.map(({ ref }) => ref) };
  }

  #lendOnce(entry: LoadedEntry): () => void {
    let isLent = true;
    this.use(entry);
    return () => {
      if (isLent) this.leave(entry);
      isLent = false;
    };
  }

  #shown(entry: LoadedEntry): LoadedSession {
    const { ref, session, goneListeners } = entry;
    return { ref, session, use: () => this.#lendOnce(entry), onGone: (listener) => void goneListeners.add(listener) };
  }

  /** Notes when the session rests, and releases it when its log was removed. After a retryable error of the store it follows the session again. */
  #follow(entry: LoadedEntry): () => void {
    return entry.session.follow({
      events() {},
      rested: () => this.#noteRest(entry),
      lost: (error) => {
        if (error.retryable) entry.stop = this.#follow(entry);
        else this.#lose(entry);
      },
    });
  }

  /** The other followers of the session are notified in the same microtask round; the listeners of `onGone` are called after them. */
  #lose(entry: LoadedEntry): void {
    if (this.get(entry.ref) === entry) this.#entries.delete(refKey(entry.ref));
    void Promise.resolve().then(() => this.drop(entry));
  }

  /** A session whose store is away counts as busy, because its state is unknown. In a process that does not drive, no run keeps a session loaded. */
  #isIdle(entry: LoadedEntry): boolean {
    const { drives = true } = this.#parts;
    return isUnused(entry) && entry.session.lastSeq > 0 && (entry.session.isResting || !drives);
  }

  /** A poll of the log ends with `rested` each time. Only a poll that read new facts restarts the idle time. */
  #noteRest(entry: LoadedEntry): void {
    if (!this.#unused.has(entry) || entry.idleSeq !== entry.session.lastSeq) this.#noteQuiet(entry);
  }

  /** Called when a user has left, or the session has come to rest. */
  #noteQuiet(entry: LoadedEntry): void {
    entry.idleSince = this.#parts.clock.monotonic();
    entry.idleSeq = entry.session.lastSeq;
    this.#unused.delete(entry);
    if (this.get(entry.ref) === entry && this.#isIdle(entry)) this.#unused.add(entry);
    if (isUnused(entry) && entry.session.lastSeq === 0) void this.#dropUnbegun(entry);
    this.#shed();
    this.#planSweep();
  }

  /** Evicts a session whose first input was refused. A store that does not answer counts as having the session, so that no session is evicted by mistake. */
  async #dropUnbegun(entry: LoadedEntry): Promise<void> {
    const isThere = await this.#parts.store.log.head(entry.ref).then(
      ({ lastSeq }) => lastSeq > 0,
      () => true,
    );
    if (!isThere && entry.session.lastSeq === 0 && isUnused(entry)) await this.drop(entry);
  }

  /** Evicts the longest idle sessions while too many are loaded. */
  #shed(): void {
    for (const entry of this.#unused) {
      if (this.#entries.size <= this.#parts.limits.sessionsLoaded) return;
      this.#unused.delete(entry);
      if (this.#isIdle(entry)) void this.drop(entry);
    }
  }

  #planSweep(): void {
    if (this.#isClosed || this.#entries.size === 0) return;
    const sweep = (): void => {
      this.#cancelSweep = undefined;
      this.#sweep();
      this.#planSweep();
    };
    this.#cancelSweep ??= this.#parts.clock.after(this.#parts.limits.sessionIdleMs, sweep, { idle: true });
  }

  /** Evicts the sessions that have been idle for `sessionIdleMs`. */
  #sweep(): void {
    const idleBefore = this.#parts.clock.monotonic() - this.#parts.limits.sessionIdleMs;
    for (const entry of this.#entries.values()) if (entry.idleSince <= idleBefore && this.#isIdle(entry)) void this.drop(entry);
  }
}
