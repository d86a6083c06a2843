import type { CallFact } from "./facts/call-facts.ts";
import type { RunFact } from "./facts/run-facts.ts";
import type { SessionFact } from "./facts/session-facts.ts";

export type { Access, Labels, Sharing, SharingRole } from "./facts/access.ts";
export type { ApprovalVerdict, CallResult, ChildCall, RememberedDecision, WaitingCall } from "./facts/call-facts.ts";
export type { HookPoint, HookState, Verdict } from "./facts/hook-verdicts.ts";
export type { InputOrigin, ParentLink } from "./facts/origins.ts";
export type { Decision, RoutedCall, RunStatus, Timings } from "./facts/run-facts.ts";
export type { RunBudget, RunOptions } from "./facts/run-options.ts";
export type { InputMode, Retention, ScheduledInput } from "./facts/session-facts.ts";
export type { Expense, Hooked, KeyOwner, ModelChain, ModelLink, Spending } from "./facts/spending.ts";
export type { DeclaredTool } from "./facts/tool-policy.ts";

/** Version of the facts that this build writes, and the newest that it folds. */
export const factVersion = 2;

/** Everything that may happen in a session. */
export type FactBody = SessionFact | RunFact | CallFact;

export type FactType = FactBody["type"];

/** A fact before the log has given it a number. */
export type FactDraft = FactBody & { readonly at: number; readonly v: number; readonly epoch?: number };

/** One entry of the log: something that has happened, recorded durably. */
export type Fact = FactDraft & { readonly seq: number };

/** A fact of one type. */
export type FactOf<T extends FactType> = Extract<Fact, { readonly type: T }>;
export type BodyOf<T extends FactType> = Extract<FactBody, { readonly type: T }>;
