/*
 * Owns: the calls of the `decide` hooks for a whole answer, and the closing fact that results.
 * Does not own: the fact before these calls (close-model-call), the consequences of a decision (the loop).
 */
import type { Agent } from "../../agent/agent.ts";
import type { DecideContext, DecideReason, DecideVerdict, Hooks } from "../../agent/hooks.ts";
import type { Access, BodyOf, Decision } from "../../loop/fact.ts";
import { policyOfShown } from "../../loop/facts/tool-policy.ts";
import { limitOf } from "../../loop/reached-limit.ts";
import type { Run } from "../../loop/state.ts";
import { callsOf, type Message } from "../../message/message.ts";
import { type Cost, soundUsage, type Usage } from "../../message/usage.ts";
import { cutText } from "../../tools/cut-text.ts";
import { toolLimits } from "../../tools/tool-limits.ts";
import type { ToolRegistry } from "../../tools/tool-registry.ts";
import { soundCost } from "../effects/cost-of-usage.ts";
import type { HookRunner } from "../effects/hook-runner.ts";

type Finished = BodyOf<"model.finished">;
export type Closing = Finished | BodyOf<"model.failed">;

export interface DecideDeps {
  readonly agent: Agent;
  readonly asks: HookRunner;
  readonly run: Run;
  readonly access: Access;
  /** The tools of the model call. */
  readonly registry: ToolRegistry;
  readonly messages: readonly Message[];
  /** Computes the cost of usage that a hook returned. */
  readonly price: (usage: Usage) => Promise<Cost | undefined>;
}

/** The fact as the hooks change it. The first verdict on the next turn counts; answers and usage pass from hook to hook. Rejects with a hook's error. */
export async function runDecideHooks(given: Finished, setup: DecideDeps): Promise<Closing> {
  const { agent, asks } = setup;
  const reason = await reasonOf(given, setup);
  let closing = given;
  for (const hooks of agent.hooks) {
    if (!hooks.decide) continue;
    const { message, usage, cost } = closing;
    const context: DecideContext = {
      ...asks.context(hooks),
      reason,
      message,
      calls: callsOf(message),
      messages: setup.messages,
      usage,
      cost,
    };
    const verdict = (await hooks.decide(context)) ?? undefined;
    asks.take(hooks, verdict);
    note(asks, hooks, verdict);
    if (!verdict) continue;
    closing = await changed(closing, verdict, setup);
    if (verdict.action === "retract") return retracted(closing, verdict);
    if (verdict.action && !closing.decision) closing = { ...closing, decision: decisionOf(verdict) };
  }
  return closing;
}

function note(asks: HookRunner, hooks: Hooks, verdict: DecideVerdict | undefined): void {
  const { answer, usage, cost, action, reason } = verdict ?? {};
  if (answer !== undefined) asks.note(hooks, { action: "replace", reason }, "decide");
  if (usage || cost) asks.note(hooks, { action: "usage", reason }, "decide");
  if (action) asks.note(hooks, { action, reason }, "decide");
  else if (answer === undefined && !usage && !cost) asks.note(hooks, { action: "unchanged" }, "decide");
}

async function changed(
  closing: Finished,
  { answer, usage: given, cost: price }: DecideVerdict,
  { price: priceOf }: DecideDeps,
): Promise<Finished> {
  const usage = soundUsage(given);
  const cost = soundCost(price) ?? (usage ? await priceOf(usage) : undefined);
  const spent = { ...(usage ? { usage } : {}), ...(cost ? { cost } : {}) };
  const { cost: _, ...uncosted } = closing;
  // A price belongs to the usage that it was computed from.
  const next: Finished = { ...(usage && !cost ? uncosted : closing), ...spent };
  const message = { ...next.message, ...spent };
  if (answer === undefined) return { ...next, message };
  const stopReason = "stop";
  return {
    ...next,
    stopReason,
    calls: [],
    message: { ...message, stopReason, content: answer === "" ? [] : [{ type: "text", text: answer }] },
  };
}

/** The closing fact of a withdrawn answer: the attempt counts as failed, and the loop decides whether another attempt follows. */
function retracted(
  { runId, turn, attempt, usage, cost }: Finished,
  { reason, again = false }: Extract<DecideVerdict, { readonly action: "retract" }>,
): BodyOf<"model.failed"> {
  const failure = { code: "ANSWER_WITHDRAWN", message: cutText(reason, toolLimits.errorTextMax), retryable: again } as const;
  return { type: "model.failed", runId, turn, attempt, failure, ...(usage ? { usage } : {}), ...(cost ? { cost } : {}) };
}

/** The verdict without the members that concern only the answer. */
function decisionOf(verdict: Extract<DecideVerdict, Decision>): Decision {
  const { action } = verdict;
  switch (action) {
    case "nudge":
      return { action, notice: verdict.notice };
    case "force":
      return { action, tool: verdict.tool };
    case "continue":
      return { action };
    default:
      return { action, ...(verdict.reason === undefined ? {} : { reason: cutText(verdict.reason, toolLimits.errorTextMax) }) };
  }
}

async function reasonOf({ calls, message }: Finished, { run, registry, access }: DecideDeps): Promise<DecideReason> {
  if (calls.length === 0) return "no_calls";
  const isOff = await Promise.all(
    callsOf(message).map(async ({ name }) => {
      const enabled = registry.get(name)?.enabled;
      return enabled !== undefined && !(await enabled({ access }));
    }),
  );
  if (isOff.every((off) => off)) return "tools_disabled";
  const counted = callsOf(message).filter(({ name }) => policyOfShown(run, name)?.counts ?? true).length;
  const isLast = run.limit === undefined && limitOf({ ...run, toolCallCount: run.toolCallCount + counted }, run.startedAt) !== undefined;
  return isLast ? "limit" : "calls";
}
