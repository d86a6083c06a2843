/*
 * Owns: the sessions of a store in memory, sorted by their last change, by their due date, and, for due sessions under a lease, by the end of the lease.
 * Does not own: which changes of a session are allowed (the log).
 * Invariant: a page of a list or of a sweep reads only the sessions that it returns, and those whose lease has just ended.
 */
import type { Fact } from "../../loop/fact.ts";
import type { Clock } from "../../ports/clock.ts";
import type { SessionSummary } from "../../ports/session-index.ts";
import type { DueSession, SessionRef } from "../../ports/session-log.ts";
import { Ordered } from "../../stores/ordered-list.ts";
import { parentOf } from "../../stores/session-projection.ts";

/** One session in memory. */
export interface MemorySession {
  readonly ref: SessionRef;
  readonly facts: Fact[];
  /** Batch id -> seq of the batch's last fact. */
  readonly batches: Map<string, number>;
  readonly listeners: Set<(lastSeq: number) => void>;
  epoch: number;
  lease: { readonly node: string; readonly until: number } | undefined;
  due: number | null;
  removed: boolean;
}

/** The position of a session in a list. */
export type Place = Pick<SessionSummary, "updatedAt" | "id">;

type Entry<More> = { readonly session: MemorySession } & More;
type Recent = Entry<Place & { readonly parent: string | undefined }>;
type Dated = Entry<DueSession>;
type Held = Entry<DueSession & { readonly until: number }>;

/** The positions of one session at this time. */
interface Places {
  readonly recent: Recent | undefined;
  readonly dated: Dated | undefined;
  readonly held: Held | undefined;
}

interface Scope {
  readonly byId: Map<string, MemorySession>;
  /** By parent; `undefined`: sessions without a parent. */
  readonly recent: Map<string | undefined, Ordered<Place, Recent>>;
}

export class MemorySessions {
  /** The number of sessions that were read, for tests. */
  looked = 0;
  readonly #clock: Clock;
  readonly #scopes = new Map<string, Scope>();
  readonly #dated = new Ordered<DueSession, Dated>(byDate);
  readonly #held = new Ordered<Held, Held>((a, b) => a.until - b.until || byDate(a, b));
  readonly #places = new WeakMap<MemorySession, Places>();
  /** The sessions that changed since the last query. The next query computes their positions again, once for all changes. */
  readonly #moved = new Set<MemorySession>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find({ scope, session }: SessionRef): MemorySession | undefined {
    this.looked++;
    return this.#scopes.get(scope)?.byId.get(session);
  }

  /** The session, created by `make` if it is missing. */
  open(ref: SessionRef, make: () => MemorySession): MemorySession {
    const found = this.find(ref);
    if (found) return found;
    const fresh = make();
    let scope = this.#scopes.get(ref.scope);
    if (!scope) {
      scope = { byId: new Map(), recent: new Map() };
      this.#scopes.set(ref.scope, scope);
    }
    scope.byId.set(ref.session, fresh);
    return fresh;
  }

  /** Must be called after every change of a session's facts, due date or lease. */
  changed(session: MemorySession): void {
    this.#moved.add(session);
  }

  #settle(): void {
    for (const session of this.#moved) this.#place(session);
    this.#moved.clear();
  }

  #place(session: MemorySession): void {
    const before = this.#places.get(session);
    const after = this.#placesOf(session);
    if (before?.recent) this.#family(session.ref.scope, before.recent.parent).delete(before.recent);
    if (before?.dated) this.#dated.delete(before.dated);
    if (before?.held) this.#held.delete(before.held);
    if (after.recent) this.#family(session.ref.scope, after.recent.parent).add(after.recent);
    if (after.dated) this.#dated.add(after.dated);
    if (after.held) this.#held.add(after.held);
    this.#places.set(session, after);
  }

  /** The children of `parent`, or sessions without one, in the order of lists. */
  #family(scope: string, parent: string | undefined): Ordered<Place, Recent> {
    const recent = this.#scopes.get(scope)?.recent;
    const family = recent?.get(parent) ?? new Ordered<Place, Recent>(oldestFirst);
    recent?.set(parent, family);
    return family;
  }

  /** All sessions of a scope, in no order. */
  all(scope: string): Iterable<MemorySession> {
    return this.#scopes.get(scope)?.byId.values() ?? [];
  }

  /** The children of `parent` (or sessions without one) that have facts, the last changed first, starting after `before`. */
  *newestFirst(
    scope: string,
    { before, parent }: { readonly before?: Place | undefined; readonly parent?: string | undefined } = {},
  ): Generator<MemorySession> {
    this.#settle();
    const recent = this.#scopes.get(scope)?.recent.get(parent);
    if (!recent) return;
    let place = before ? recent.placeOf(before) : recent.size;
    while (place-- > 0) {
      const entry = recent.at(place);
      if (!entry) return;
      this.looked++;
      yield entry.session;
    }
  }

  /** The sessions without a lease that are due at `now`, by due date, starting after `after`. */
  *due(now: number, after?: DueSession): Generator<DueSession> {
    this.#settle();
    this.#lapse();
    let place = after ? this.#dated.placeOf(after) : 0;
    const first = this.#dated.at(place);
    if (after && first && byDate(first, after) === 0) place++;
    for (let entry = this.#dated.at(place); entry && entry.due <= now; entry = this.#dated.at(++place)) {
      this.looked++;
      yield { ref: entry.ref, due: entry.due };
    }
  }

  /** Moves sessions whose lease has ended to the ones without an owner. */
  #lapse(): void {
    for (let first = this.#held.at(0); first && first.until <= this.#clock.monotonic(); first = this.#held.at(0)) {
      this.looked++;
      this.#place(first.session);
    }
  }

  #placesOf(session: MemorySession): Places {
    const { ref, facts, lease, due } = session;
    const last = facts.at(-1);
    const isHeld = lease !== undefined && lease.until > this.#clock.monotonic();
    const date = due === null ? undefined : { session, ref, due };
    return {
      recent: last && { session, updatedAt: last.at, id: ref.session, parent: parentOf(facts) },
      dated: isHeld ? undefined : date,
      held: isHeld && date ? { ...date, until: lease.until } : undefined,
    };
  }
}

function oldestFirst(a: Place, b: Place): number {
  return a.updatedAt - b.updatedAt || order(a.id, b.id);
}

function byDate(a: DueSession, b: DueSession): number {
  return a.due - b.due || order(a.ref.scope, b.ref.scope) || order(a.ref.session, b.ref.session);
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
