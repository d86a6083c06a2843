// What a program names that observes, meters, counts and steers, imported from the main entry point. `tsc` reads this file with the tests; nothing here runs.
import {
  type AnswerVerdict,
  type Backend,
  createAgent,
  createSession,
  type DecideContext,
  type DecideVerdict,
  type EffectObservation,
  type Fact,
  type FactOf,
  type GateContext,
  type GateHookVerdict,
  type Hooks,
  type ModelRequest,
  type ObservedEffect,
  type ObservedRun,
  type Observer,
  type PrepareContext,
  type PrepareVerdict,
  type SessionRef,
  type SessionSnapshot,
  type SessionStore,
  type SpentUsage,
  type TokenCounter,
  type ToolContext,
  type UsageLedger,
} from "../src/index.ts";
import { memoryQueue, scripted } from "../src/memory/index.ts";
import type {
  ContextEngine,
  CountedPart,
  LedgerCall,
  LedgerOutcome,
  LedgerRequest,
  LedgerSpending,
  RunQueue,
  SystemPart,
  UsageAmount,
} from "../src/ports/index.ts";

const agent = createAgent({ name: "helper", provider: scripted([]) });

// A program of rules: each function has a name of its own, with written types.
const gate = ({ tool, call }: GateContext): GateHookVerdict =>
  tool.name === "pay" && call.args["amount"] === 0
    ? { action: "deny", reason: "Nothing to pay." }
    : { action: "allow", state: { seen: true } };
const shortened: AnswerVerdict = { answer: "I may not answer that." };
const decide = ({ calls }: DecideContext): DecideVerdict => (calls.length > 9 ? shortened : {});
const prepare = ({ system = "" }: PrepareContext): PrepareVerdict => ({
  system: `${system}
Today is Monday.`,
});
const rules: Hooks = { name: "rules", gate, decide, prepare };
createAgent({ ...agent, hooks: [rules] });
// @ts-expect-error: a refusal states its reason
const refusal: GateHookVerdict = { action: "deny" };
// @ts-expect-error: an answer is a text
const wrong: AnswerVerdict = { answer: ["No."] };

// A tool bills what it has spent.
const spent: SpentUsage = { provider: "vendor", model: "large", input: 10, output: 2, cost: { totalUsd: 0.01 } };
const bill = ({ addUsage }: ToolContext): void => addUsage(spent);

// An observer of everything.
class Recorder implements Observer {
  readonly tools = new Set<string>();
  facts(ref: SessionRef, facts: readonly Fact[], snapshot: () => SessionSnapshot, run: (runId: string) => ObservedRun | undefined): void {
    const ends = facts.filter((fact): fact is FactOf<"run.finished"> => fact.type === "run.finished");
    for (const { runId, status } of ends) console.log(ref.session, status, run(runId)?.agent, snapshot().status);
  }
  effect(_: SessionRef, effect: ObservedEffect, { labels = {} }: ObservedRun): EffectObservation | undefined {
    // @ts-expect-error: a model call has no tool
    if (effect.type === "call-model") return effect.tool;
    this.tools.add(`${effect.tool} ${labels["team"]}`);
    return { around: (run) => run(), end: (closing) => console.log(closing?.type) };
  }
}
// @ts-expect-error: what happened cannot be changed
const meddling: Observer = { facts: (_, facts) => facts.push() };
// @ts-expect-error: `around` gives what `run` gives
const losing: EffectObservation = { around: (run) => void run() };

// A ledger that refuses, and one that forgets to state why.
const amount: UsageAmount = { tokens: 10 };
class Budget implements UsageLedger {
  accountsOf({ accounts, access }: LedgerCall): readonly string[] {
    return [...accounts, `team/${access.scope}`];
  }
  async reserve({ ask, accounts: [account = ""] }: LedgerRequest): Promise<LedgerOutcome> {
    if (ask.tokens <= amount.tokens) return { type: "reserved" };
    return { type: "refused", account, which: "tokens", limit: amount.tokens, left: 0 };
  }
  settle(_: string, { tokens, source }: LedgerSpending): void {
    console.log(tokens, source === "estimated");
  }
  release(): void {}
}
// @ts-expect-error: a refusal names its limit
const silent: LedgerOutcome = { type: "refused", account: "a", which: "tokens" };
// @ts-expect-error: a ledger that only reserves would never learn what was spent
const half: UsageLedger = { reserve: () => ({ type: "reserved" }) };

// A counter, at once or after a look at a service.
const light: TokenCounter = { count: (_, part: CountedPart) => (typeof part === "string" ? part.length : 1) };
const remote: TokenCounter = { count: async (model) => model.length };
// @ts-expect-error: a number of tokens is no text
const texts: TokenCounter = { count: () => "10" };

declare const context: ContextEngine;
createAgent({ ...agent, context });
const queue: RunQueue = memoryQueue();
const backend = (store: SessionStore): Backend => ({ store, queue, close: async () => {} });
// A model that looks at what it is sent.
const stable = ({ system = [] }: ModelRequest): readonly SystemPart[] => system.filter(({ cache }) => cache === "stable");
createSession({ agent, observers: [new Recorder()], ledger: new Budget(), tokenCounter: light });
createSession({ agent, tokenCounter: remote });
// @ts-expect-error: a counter is no ledger
createSession({ agent, ledger: light });
export const all: readonly unknown[] = [refusal, wrong, bill, stable, backend, meddling, losing, silent, half, texts];
