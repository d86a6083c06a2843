import { type Fact, factVersion } from "./fact.ts";

/** A fact in the form of an older build, with other types or fields than today. */
export interface OldFact {
  readonly seq: number;
  readonly at: number;
  readonly v: number;
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Converts a fact of one version to the form of the next version. Pure and total; one fact gives one fact. */
export type UpCaster = (fact: OldFact) => OldFact;

/** The steps by the version that they convert from. A step is kept for every version that was ever released. */
export type UpCasters = { readonly [version: number]: UpCaster };

type Fields = { readonly [field: string]: unknown };

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

/** Separates the named members from an object: `rest` is the object without them, `labels` has those of them that are texts. */
function parted(value: unknown, names: readonly string[]): { readonly rest: unknown; readonly labels: Fields | undefined } {
  if (!isFields(value)) return { rest: value, labels: undefined };
  const entries = Object.entries(value);
  const labels = entries.filter(([name, text]) => names.includes(name) && typeof text === "string");
  if (!entries.some(([name]) => names.includes(name))) return { rest: value, labels: undefined };
  const rest = Object.fromEntries(entries.filter(([name]) => !names.includes(name)));
  return { rest, labels: labels.length > 0 ? Object.fromEntries(labels) : undefined };
}

/**
 * In version 1 three labels had their own fields, there were no limits of tokens, cost and time, and the first `interrupt` had a mark. The id of an
 * answer was the number of the fact that ended it. A call with a child had a `tool.finished`, too.
 */
function fromVersion1(fact: OldFact): OldFact {
  switch (fact.type) {
    case "input.accepted": {
      const { access, options, jumps, ...kept } = fact;
      const user = parted(access, ["surface", "plan"]);
      const chosen = parted(options, ["surface", "activeModule"]);
      return {
        ...kept,
        ...(access === undefined ? {} : { access: isFields(user.rest) && user.labels ? { ...user.rest, labels: user.labels } : user.rest }),
        ...(options === undefined ? {} : { options: chosen.rest }),
        ...(chosen.labels ? { labels: chosen.labels } : {}),
        ...(kept["mode"] === "interrupt" && jumps !== true ? { jumps: false } : {}),
      };
    }
    case "run.started": {
      const limits = isFields(fact["limits"]) ? fact["limits"] : {};
      return { ...fact, limits: { tokensMax: 0, costUsdMax: 0, durationMs: 0, depthMax: 0, ...limits } };
    }
    case "model.started":
      return { ...fact, namedAtEnd: true };
    case "model.finished":
      return { ...fact, messageId: String(fact.seq) };
    case "child.linked":
      return { ...fact, key: fact["callKey"] };
    default:
      return fact;
  }
}

export const upCasters: UpCasters = { 1: fromVersion1 };

export interface UpCastOptions {
  /** Default: those of this build. */
  readonly casters?: UpCasters;
  /** Default: `factVersion`. */
  readonly version?: number;
}

/** The facts in the form of this build; the same list if none is older. Number and date of a fact are never changed. */
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
