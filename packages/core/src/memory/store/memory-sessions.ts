/*
 * Owns: the sessions of a store in memory, and the orders in which they are looked for: by their last change, by their date, by the end of the
 * lease that holds one with a date. Does not own: what may be changed in a session (the log).
 * Invariant: a page of a list or of a sweep looks at the sessions that it names, and at those whose lease has just ended.
 */
import type { Fact } from "../../loop/fact.ts";
import type { Clock } from "../../ports/clock.ts";
import type { SessionSummary } from "../../ports/session-index.ts";
import type { DueSession, SessionRef } from "../../ports/session-log.ts";
import { Ordered } from "../../stores/ordered.ts";

/** What one session is in memory. */
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

/** Where a session stands in a list. */
export type Place = Pick<SessionSummary, "updatedAt" | "id">;

type Entry<More> = { readonly session: MemorySession } & More;
type Recent = Entry<Place>;
type Dated = Entry<DueSession>;
type Held = Entry<DueSession & { readonly until: number }>;

/** The places of one session at this time. */
interface Places {
  readonly recent: Recent | undefined;
  readonly dated: Dated | undefined;
  readonly held: Held | undefined;
}

export class MemorySessions {
  /** Sessions that were looked at by anybody: for tests. */
  looked = 0;
  readonly #clock: Clock;
  readonly #scopes = new Map<string, { readonly byId: Map<string, MemorySession>; readonly recent: Ordered<Place, Recent> }>();
  readonly #dated = new Ordered<DueSession, Dated>(byDate);
  readonly #held = new Ordered<Held, Held>((a, b) => a.until - b.until || byDate(a, b));
  readonly #places = new WeakMap<MemorySession, Places>();
  /** Changed since the last query: their positions are found again by the next one, once for all changes. */
  readonly #moved = new Set<MemorySession>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find({ scope, session }: SessionRef): MemorySession | undefined {
    this.looked++;
    return this.#scopes.get(scope)?.byId.get(session);
  }

  /** The session, made by `make` where it is missing. */
  open(ref: SessionRef, make: () => MemorySession): MemorySession {
    const found = this.find(ref);
    if (found) return found;
    const fresh = make();
    let scope = this.#scopes.get(ref.scope);
    if (!scope) {
      scope = { byId: new Map(), recent: new Ordered<Place, Recent>(oldestFirst) };
      this.#scopes.set(ref.scope, scope);
    }
    scope.byId.set(ref.session, fresh);
    return fresh;
  }

  /** To be called after every change of a session's facts, date or lease. */
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
    const recent = this.#scopes.get(session.ref.scope)?.recent;
    if (before?.recent) recent?.delete(before.recent);
    if (before?.dated) this.#dated.delete(before.dated);
    if (before?.held) this.#held.delete(before.held);
    if (after.recent) recent?.add(after.recent);
    if (after.dated) this.#dated.add(after.dated);
    if (after.held) this.#held.add(after.held);
    this.#places.set(session, after);
  }

  /** The sessions of a scope that have facts, the one changed last first, from behind a place on. */
  *newestFirst(scope: string, before?: Place): Generator<MemorySession> {
    this.#settle();
    const recent = this.#scopes.get(scope)?.recent;
    if (!recent) return;
    let place = before ? recent.placeOf(before) : recent.size;
    while (place-- > 0) {
      const entry = recent.at(place);
      if (!entry) return;
      this.looked++;
      yield entry.session;
    }
  }

  /** Those with a date up to `now` that no lease holds, by date, from behind one on. */
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

  /** Moves sessions whose lease has ended to those without an owner. */
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
      recent: last && { session, updatedAt: last.at, id: ref.session },
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
