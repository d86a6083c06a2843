/*
 * Owns: the parts of a state for a snapshot: the growing lists, of which each snapshot writes only the new items, and the small rest.
 * Does not own: where the parts are stored, and whether they are valid (driver/log/stored-fold-snapshots).
 */
import { canonicalJson } from "../message/canonical-json.ts";
import { digestOf } from "../message/digest.ts";
import type { Json } from "../message/json.ts";
import { type AppendList, append, emptyList, itemsFrom } from "./append-list.ts";
import type { EndedRun, Entry, KnownDecision, KnownInput, State } from "./state.ts";

/** The lists that grow with the log. */
export interface Growth {
  readonly history: readonly Entry[];
  readonly known: readonly KnownInput[];
  readonly ended: readonly EndedRun[];
  readonly decisions: readonly KnownDecision[];
}

export type GrowingName = keyof Growth;

type ListsOf<S> = { [Name in keyof S]-?: NonNullable<S[Name]> extends AppendList<unknown> ? Name : never }[keyof S];

/** Every list that grows. The compiler demands an entry for each such list of `State`. */
const growing: { readonly [Name in ListsOf<State>]: true } = { history: true, known: true, ended: true, decisions: true };

export const growingNames: readonly GrowingName[] = Object.keys(growing) as GrowingName[];

/** How long each list is. */
export type Lengths = { readonly [Name in GrowingName]: number };

/** The rest, which does not grow with the log. */
export type StateRest = Omit<State, GrowingName>;

export const noLengths: Lengths = { history: 0, known: 0, ended: 0, decisions: 0 };

export function lengthsOf({ history, known, ended, decisions }: State): Lengths {
  return { history: history.length, known: known.length, ended: ended.length, decisions: decisions?.length ?? 0 };
}

/** The items beyond these lengths. Reads only those. */
export function growthOf({ history, known, ended, decisions }: State, since: Lengths): Growth {
  return {
    history: itemsFrom(history, since.history),
    known: itemsFrom(known, since.known),
    ended: itemsFrom(ended, since.ended),
    decisions: decisions ? itemsFrom(decisions, since.decisions) : [],
  };
}

export function restOf({ history: _, known: __, ended: ___, decisions: ____, ...rest }: State): StateRest {
  return rest;
}

/** Joins the parts to a state; `growths` oldest first. */
export function stateFrom(rest: StateRest, growths: readonly Partial<Growth>[]): State {
  const join = <Name extends GrowingName>(name: Name): AppendList<Growth[Name][number]> =>
    growths.reduce<AppendList<Growth[Name][number]>>((list, growth) => (growth[name] ?? []).reduce(appendItem, list), emptyList());
  const decisions = join("decisions");
  return {
    ...rest,
    history: join("history"),
    known: join("known"),
    ended: join("ended"),
    ...(decisions.length > 0 ? { decisions } : {}),
  };
}

const appendItem = <T>(list: AppendList<T>, item: T): AppendList<T> => append(list, item);

/** Equal for states with equal content, however they were built. For comparisons; reads the whole state. */
export function stateDigest(state: State): string {
  const image = { ...restOf(state), ...growthOf(state, noLengths) };
  return digestOf(canonicalJson(JSON.parse(JSON.stringify(image)) as Json));
}
