import type { Cost, Usage } from "../../message/usage.ts";
import type { HookState, Verdict } from "./hook-verdicts.ts";

/** The usage that user code reported at one place, of one model. */
export interface Expense {
  readonly usage: Usage;
  readonly cost?: Cost;
  readonly provider?: string;
  readonly model?: string;
}

/** The usage that a fact adds to the sums of its run and its session. */
export interface Spending {
  /** The usage of the model call, or the usage that the tool reported without a model. */
  readonly usage?: Usage;
  readonly cost?: Cost;
  /** The usage of hooks and tools that `usage` does not contain. */
  readonly expenses?: readonly Expense[];
}

/** The changes of hooks to a fact. */
export interface Hooked {
  readonly verdicts?: readonly Verdict[];
  /** Changes the state of the named hooks, member by member. */
  readonly hookState?: HookState;
}

/** The owner of the key for a model call. */
export type KeyOwner = "user" | "scope" | "platform";

/** One model of a fallback chain. */
export interface ModelLink {
  readonly provider: string;
  readonly model: string;
  readonly keyOwner: KeyOwner;
}

/** The models to call, in this order. */
export interface ModelChain {
  readonly links: readonly ModelLink[];
  /** The changes of the key's owner that the scope has allowed explicitly. Default: none, so that a chain stays with one owner of keys. */
  readonly crossings?: readonly { readonly from: KeyOwner; readonly to: KeyOwner }[];
}
