import type { SessionSummary } from "@loopwright/core/ports";
import { Ordered } from "@loopwright/core/stores";

/** Where a session stands in a list. */
export type Place = Pick<SessionSummary, "updatedAt" | "id">;

/** The same, and among whose children. */
export interface FamilyPlace extends Place {
  readonly parent?: string | undefined;
}

/** The sessions of one scope by their last change. It is kept of all sessions, some 150 bytes each: their summaries are not. */
export class SessionPlaces {
  readonly #byId = new Map<string, FamilyPlace>();
  /** By the parent; those without one under `undefined`. */
  readonly #orders = new Map<string | undefined, Ordered<Place, FamilyPlace>>();
  /** All sessions that the store has are among them. */
  isWhole = false;

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  get(id: string): FamilyPlace | undefined {
    return this.#byId.get(id);
  }

  note({ updatedAt, id, parent }: FamilyPlace): void {
    this.forget(id);
    const place = { updatedAt, id, parent };
    this.#byId.set(id, place);
    const order = this.#orders.get(parent) ?? new Ordered<Place, FamilyPlace>(oldestFirst);
    this.#orders.set(parent, order);
    order.add(place);
  }

  forget(id: string): void {
    const known = this.#byId.get(id);
    if (known) this.#orders.get(known.parent)?.delete(known);
    this.#byId.delete(id);
  }

  /** So many children of a session, or of none, at most, the one changed last first, from behind a place on. */
  newestFirst(
    parent: string | undefined,
    { limit, before }: { readonly limit: number; readonly before: Place | undefined },
  ): readonly Place[] {
    const order = this.#orders.get(parent);
    const end = before ? (order?.placeOf(before) ?? 0) : (order?.size ?? 0);
    const found: Place[] = [];
    for (let at = end - 1; at >= 0 && found.length < limit; at--) {
      const place = order?.at(at);
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
