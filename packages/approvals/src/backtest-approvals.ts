import {
  AgentError,
  type ApprovalVerdict,
  defineTool,
  type Fact,
  type GateContext,
  type GateVerdict,
  type SessionStore,
  type Tool,
} from "@loopwright/core";
import { silentLogger } from "@loopwright/core/memory";
import type { ApprovalRule } from "@loopwright/core/ports";
import { type ApprovalPolicy, checkedPolicy } from "./approval-policy.ts";
import { callsOfLog, type GateOutcome, type RecordedCall } from "./calls-of-log.ts";
import { hookName, judge } from "./create-approvals.ts";
import { inMemoryRules } from "./in-memory-rules.ts";
import type { ApprovalRuleStore } from "./rule-store.ts";

export interface ApprovalBacktestOptions {
  readonly store: SessionStore;
  readonly scope: string;
  /** The policy that is tried, in place of the one that held. */
  readonly policy: ApprovalPolicy;
  /** Rules of users: those that were made before a call hold for it. Default: none. */
  readonly rules?: Pick<ApprovalRuleStore, "list">;
  /** For policies that are functions of the gate's context and read its tool. Default: one with the name alone. */
  readonly tools?: readonly Tool[];
  /** Sessions at most, the newest first, without those that agents have started. Default 1,000. */
  readonly sessionsMax?: number;
  readonly signal?: AbortSignal;
}

/** A recorded call, and what the policy would have made of it. */
export interface BacktestedCall {
  readonly session: string;
  readonly callKey: string;
  readonly toolName: string;
  /** What the policy would have done, together with the other gates of that time. */
  readonly verdict: GateOutcome;
  readonly reason?: string;
  /** What was done. */
  readonly recorded: GateOutcome;
  /** What a person decided, where one was asked and answered. */
  readonly decision?: ApprovalVerdict;
  readonly by?: string;
}

export interface ApprovalBacktestReport {
  readonly sessions: number;
  /** Sessions that could not be read, or for which a function of the policy threw an error. */
  readonly unreadable: readonly { readonly session: string; readonly why: string }[];
  /** Every call that came to the gates, session after session. */
  readonly calls: readonly BacktestedCall[];
}

const pageSize = 100;

/**
 * What a policy would have asked, allowed and denied in stored sessions, beside what was done and what people decided. The policy judges each call as it would have live: the same
 * arguments, the same wishes of tools and other gates, and the decisions that held then; it is taken as the last of the gates.
 * @throws AgentError INPUT_INVALID for a pattern that is none, STORE_* where the list of sessions cannot be read
 */
export async function backtestApprovals(options: ApprovalBacktestOptions): Promise<ApprovalBacktestReport> {
  const { store, scope, sessionsMax = 1_000, signal } = options;
  const policy = checkedPolicy(options.policy);
  const calls: BacktestedCall[] = [];
  const unreadable: { session: string; why: string }[] = [];
  let sessions = 0;
  for await (const session of newest(store, scope, sessionsMax)) {
    signal?.throwIfAborted();
    sessions += 1;
    try {
      const facts = await store.log.read({ scope, session });
      calls.push(...(await inSession({ session, facts, policy, options })));
    } catch (error) {
      unreadable.push({ session, why: error instanceof Error ? error.message : String(error) });
    }
  }
  return { sessions, unreadable, calls };
}

async function* newest({ index }: SessionStore, scope: string, sessionsMax: number): AsyncGenerator<string> {
  let left = sessionsMax;
  for (let before: Awaited<ReturnType<typeof index.list>>[number] | undefined; left > 0; ) {
    const page = await index.list(scope, { limit: Math.min(pageSize, left), ...(before ? { before } : {}) });
    for (const { id } of page) yield id;
    left -= page.length;
    before = page.at(-1);
    if (page.length === 0) return;
  }
}

interface SessionToJudge {
  readonly session: string;
  readonly facts: readonly Fact[];
  readonly policy: ApprovalPolicy;
  readonly options: Pick<ApprovalBacktestOptions, "rules" | "tools">;
}

async function inSession({ session, facts, policy, options }: SessionToJudge): Promise<readonly BacktestedCall[]> {
  const judged: BacktestedCall[] = [];
  for (const recorded of callsOfLog(facts, hookName)) {
    const { call, at, outcome, decision } = recorded;
    const rules = rulesAt(options.rules ?? inMemoryRules(), at);
    const verdict = recorded.isDenied ? undefined : await judge(contextOf(session, recorded, options.tools), { policy, rules });
    const reason = verdict && "reason" in verdict ? verdict.reason : undefined;
    judged.push({
      ...{ session, callKey: call.callKey, toolName: call.name, verdict: outcomeOf(verdict, recorded) },
      ...(reason === undefined ? {} : { reason }),
      recorded: outcome,
      ...decision,
    });
  }
  return judged;
}

/** As the gates join their verdicts. */
function outcomeOf(verdict: GateVerdict | undefined, { isAsked, isDenied }: RecordedCall): GateOutcome {
  if (isDenied) return "deny";
  if (verdict?.action === "deny" || verdict?.action === "ask") return verdict.action;
  return isAsked && verdict?.action !== "approve" ? "ask" : "allow";
}

const rulesAt = (rules: Pick<ApprovalRuleStore, "list">, at: number): Pick<ApprovalRuleStore, "list"> => ({
  list: async (owner, toolName): Promise<readonly ApprovalRule[]> =>
    (await rules.list(owner, toolName)).filter(({ createdAt }) => createdAt <= at),
});

function contextOf(sessionId: string, recorded: RecordedCall, tools: readonly Tool[] = []): GateContext {
  const { call, calls, runId, turn, access, labels, agent, isAsked, remembered } = recorded;
  const tool =
    tools.find(({ name }) => name === call.name) ??
    (defineTool({ name: call.name, description: "A recorded tool.", parameters: { type: "object" } }) as Tool);
  return {
    ...{ sessionId, runId, turn, access, labels, agent, call, calls, tool, isAsked, remembered },
    signal: new AbortController().signal,
    logger: silentLogger,
    resources: undefined,
    state: {},
    addUsage: () => {},
    note: () => {},
    record: async () => {},
    child: refuseAgents,
    spawn: refuseAgents,
  };
}

function refuseAgents(): never {
  throw new AgentError("CONFIG_INVALID", {
    message: "A policy that starts an agent cannot be tried on stored sessions.",
    fix: "Leave the tool out.",
  });
}
