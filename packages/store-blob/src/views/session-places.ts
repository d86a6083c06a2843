import type { SessionSummary } from "@loopwright/core/ports";
import { Ordered } from "@loopwright/core/stores";

/** Where a session stands in a list. */
export type Place = Pick<SessionSummary, "updatedAt" | "id">;

/** The sessions of one scope by their last change. It is kept of all sessions, some 150 bytes each: their summaries are not. */
export class SessionPlaces {
  readonly #byId = new Map<string, Place>();
  readonly #order = new Ordered<Place, Place>(oldestFirst);
  /** All sessions that the store has are among them. */
  isWhole = false;

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  note({ updatedAt, id }: Place): void {
    this.forget(id);
    const place = { updatedAt, id };
    this.#byId.set(id, place);
    this.#order.add(place);
  }

  forget(id: string): void {
    const known = this.#byId.get(id);
    if (known) this.#order.delete(known);
    this.#byId.delete(id);
  }

  /** So many at most, the one changed last first, from behind a place on. */
  newestFirst(limit: number, before?: Place): readonly Place[] {
    const end = before ? this.#order.placeOf(before) : this.#order.size;
    const found: Place[] = [];
    for (let at = end - 1; at >= 0 && found.length < limit; at--) {
      const place = this.#order.at(at);
      if (place) found.push(place);
    }
    return found;
  }
}

/** The places of the sessions of each scope. */
export class ScopePlaces {
  readonly #scopes = new Map<string, SessionPlaces>();

  of(scope: string): SessionPlaces {
    const places = this.#scopes.get(scope) ?? new SessionPlaces();
    this.#scopes.set(scope, places);
    return places;
  }
}

function oldestFirst(a: Place, b: Place): number {
  return a.updatedAt - b.updatedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** Orders lists: the last change first, sessions of the same moment by descending id. */
export function newestFirst(a: Place, b: Place): number {
  return -oldestFirst(a, b);
}
