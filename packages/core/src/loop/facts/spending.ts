import type { Cost, Usage } from "../../message/usage.ts";
import type { HookState, Verdict } from "./parties.ts";

/** What user code spent in one place, by model. */
export interface Expense {
  readonly usage: Usage;
  readonly cost?: Cost;
  readonly provider?: string;
  readonly model?: string;
}

/** What a fact adds to the sums of its run and its session. */
export interface Spending {
  /** Of the call itself: of the model call, or what the tool reported without a model. */
  readonly usage?: Usage;
  readonly cost?: Cost;
  /** What hooks and tools spent beside it. */
  readonly expenses?: readonly Expense[];
}

/** What hooks did to a fact. */
export interface Hooked {
  readonly verdicts?: readonly Verdict[];
  /** Replaces the state of the hooks that are named. */
  readonly hookState?: HookState;
}

/** Whose key a model is called with. */
export type KeyOwner = "user" | "scope" | "platform";

/** One model of a fallback chain. */
export interface ModelLink {
  readonly provider: string;
  readonly model: string;
  readonly keyOwner: KeyOwner;
}

/** The models to ask, in this order. */
export interface ModelChain {
  readonly links: readonly ModelLink[];
  /** Changes of the paying party that the scope has allowed explicitly. Default: none, so a chain stays with the owner of the key that failed. */
  readonly crossings?: readonly { readonly from: KeyOwner; readonly to: KeyOwner }[];
}

/** What a run may spend, and the accounts that are charged. */
export interface RunBudget {
  readonly accounts?: readonly string[];
  /** Prompt and answer tokens. Absent: no limit. */
  readonly tokensMax?: number;
  /** US dollars. Absent: no limit. */
  readonly costUsdMax?: number;
}
