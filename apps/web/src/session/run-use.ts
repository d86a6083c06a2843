import type { AgentLimits, SessionView } from "@loopwright/client";
import { addSpent, type Cost, callsOf, type Json, type Message, type Usage } from "@loopwright/core/protocol";
import { tokensIn } from "../conversation/amount-labels.ts";
import type { RunTrace } from "../traces/trace-of.ts";

/** How much of one limit a run has used. */
export interface LimitUse {
  readonly name: "Turns" | "Tool calls" | "Tokens" | "Cost";
  readonly used: number;
  /** Above 0. */
  readonly most: number;
}

/** The run that the last answer belongs to, or that is under way. */
export function lastRunOf({ run, path }: Pick<SessionView, "run" | "path">): string | undefined {
  return run?.runId ?? path.findLast(({ runId }) => runId !== undefined)?.runId;
}

/** What the run has used of each limit that there is, with its children and summaries as far as its trace is known. */
export function runUse(
  { path }: Pick<SessionView, "path">,
  runId: string,
  { limits, trace, uncounted }: RunUseOptions,
): readonly LimitUse[] {
  const messages = path.flatMap((entry) => (entry.runId === runId ? [entry.message] : []));
  const answers = messages.flatMap((message) => (message.role === "assistant" ? [message] : []));
  const beside = [...(trace?.agents ?? []), ...[...(trace?.compactions.values() ?? [])].flat()];
  const { usage, cost } = [...answers, ...beside].reduce<{ readonly usage?: Usage; readonly cost?: Cost }>(addSpent, {});
  const uses: readonly LimitUse[] = [
    { name: "Turns", used: answers.length, most: limits.turnsMax },
    { name: "Tool calls", used: callsIn(messages, uncounted), most: limits.toolCallsMax },
    { name: "Tokens", used: usage ? tokensIn(usage) : 0, most: limits.tokensMax },
    { name: "Cost", used: cost?.totalUsd ?? 0, most: limits.costUsdMax },
  ];
  return uses.filter(({ most }) => most > 0);
}

/** The calls that count against the limit: those of the run, and those of the agents that its tools asked. */
function callsIn(messages: readonly Message[], uncounted: ReadonlySet<string> = new Set()): number {
  let count = 0;
  for (const message of messages) {
    if (message.role === "assistant") count += callsOf(message).filter(({ name }) => !uncounted.has(name)).length;
    if (message.role === "tool_result") count += callsBelow(message.details);
  }
  return count;
}

/** As a tool that asks an agent notes them with its result. */
function callsBelow(details: Json | undefined): number {
  if (typeof details !== "object" || details === null || !("agent" in details) || !("toolCallCount" in details)) return 0;
  const { toolCallCount } = details;
  return typeof toolCallCount === "number" && Number.isSafeInteger(toolCallCount) && toolCallCount > 0 ? toolCallCount : 0;
}

export interface RunUseOptions {
  readonly limits: AgentLimits;
  readonly trace: RunTrace | undefined;
  /** The names of the tools whose calls do not count. Default: none. */
  readonly uncounted?: ReadonlySet<string>;
}
