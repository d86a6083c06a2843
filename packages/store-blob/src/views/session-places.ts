import type { SessionSummary } from "@loopwright/core/ports";
import { Ordered } from "@loopwright/core/stores";

/** Where a session stands in a list. */
export type Place = Pick<SessionSummary, "updatedAt" | "id">;

/** The place of a session, and what it was learned from. */
export interface KnownPlace extends Place {
  /** The version of the settled summary that holds it; absent: the log may have grown since. */
  readonly etag: string | undefined;
  /** When it was noted, counted in notes. */
  readonly noted: number;
}

/** The sessions of one scope by their last change. It is kept of all sessions, some 150 bytes each: their summaries are not. */
export class SessionPlaces {
  readonly #byId = new Map<string, KnownPlace>();
  readonly #order = new Ordered<Place, KnownPlace>(oldestFirst);
  /** Raised by every note. */
  notes = 0;
  /** All sessions that the store has are among them. */
  isWhole = false;

  get(id: string): KnownPlace | undefined {
    return this.#byId.get(id);
  }

  note({ updatedAt, id }: Place, etag?: string): void {
    this.forget(id);
    const place = { updatedAt, id, etag, noted: ++this.notes };
    this.#byId.set(id, place);
    this.#order.add(place);
  }

  forget(id: string): void {
    const known = this.#byId.get(id);
    if (known) this.#order.delete(known);
    this.#byId.delete(id);
  }

  /** Forgets the sessions that are not there, but for those that were noted since. */
  keepOnly(ids: ReadonlySet<string>, noted: number): void {
    for (const place of [...this.#byId.values()]) if (!ids.has(place.id) && place.noted <= noted) this.forget(place.id);
  }

  /** So many at most, the one changed last first, from behind a place on. */
  newestFirst(limit: number, before?: Place): readonly KnownPlace[] {
    const end = before ? this.#order.placeOf(before) : this.#order.size;
    const found: KnownPlace[] = [];
    for (let at = end - 1; at >= 0 && found.length < limit; at--) {
      const place = this.#order.at(at);
      if (place) found.push(place);
    }
    return found;
  }
}

function oldestFirst(a: Place, b: Place): number {
  return a.updatedAt - b.updatedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}
