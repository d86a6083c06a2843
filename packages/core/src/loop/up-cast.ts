import { type Fact, factVersion } from "./fact.ts";

/** A fact as some older build wrote it: its type and fields may be others than today's. */
export interface OldFact {
  readonly seq: number;
  readonly at: number;
  readonly v: number;
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Makes of a fact of one version what the next version would have written. Pure, total, one fact for one. */
export type UpCaster = (fact: OldFact) => OldFact;

/** By the version that they take. One for every version that was ever released, for ever. */
export type UpCasters = { readonly [version: number]: UpCaster };

/** None yet: no version before this one was released. */
export const upCasters: UpCasters = {};

export interface UpCastOptions {
  /** Default: those of this build. */
  readonly casters?: UpCasters;
  /** Default: `factVersion`. */
  readonly version?: number;
}

/** The facts as this build would have written them; the same list where none is older. Place and time of a fact are never changed. */
export function upCast(facts: readonly Fact[], { casters = upCasters, version = factVersion }: UpCastOptions = {}): readonly Fact[] {
  if (!facts.some(({ v }) => v < version)) return facts;
  return facts.map((fact) => (fact.v < version ? castOne(fact, casters, version) : fact));
}

function castOne(fact: Fact, casters: UpCasters, version: number): Fact {
  const { seq, at } = fact;
  let cast: OldFact = { ...fact };
  for (let v = cast.v; v < version; v++) cast = { ...(casters[v]?.(cast) ?? cast), seq, at, v: v + 1 };
  return cast as OldFact & Fact;
}
