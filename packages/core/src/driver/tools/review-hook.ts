import type { Agent } from "../../agent/agent.ts";
import type { ReviewVerdict } from "../../agent/hooks.ts";
import { AgentError } from "../../errors.ts";
import type { CallResult } from "../../loop/fact.ts";
import type { ResultPart } from "../../message/content.ts";
import { type Cost, soundUsage, type Usage } from "../../message/usage.ts";
import { normaliseOutput } from "../../tools/normalise-output.ts";
import { toolFailure } from "../../tools/tool-failure.ts";
import { toolLimits } from "../../tools/tool-limits.ts";
import { soundCost } from "../effects/cost-of-usage.ts";
import type { HookDeps } from "../effects/hook-deps.ts";
import { HookRunner, type HookTrace } from "../effects/hook-runner.ts";
import type { SyncOrAsync } from "../effects/sync-or-async.ts";
import { hookFailed, type Reports } from "../setup/user-code-errors.ts";
import type { GatedCall } from "./gate-hook.ts";

interface ReviewDeps {
  readonly agent: Agent;
  readonly reports: Reports;
  readonly asking: HookDeps;
  readonly gated: GatedCall;
}

/** The result of a call with the changes of the hooks. */
export type Reviewed = CallResult & HookTrace & { readonly usage?: Usage; readonly cost?: Cost; readonly force?: string };

/** The result with the changes of the `review` hooks. A hook that throws fails the call, so that unchecked output is never shown. */
export function runReviewHooks(result: Reviewed, setup: ReviewDeps): SyncOrAsync<Reviewed> {
  return setup.agent.hooks.some(({ review }) => review) ? askReviews(result, setup) : result;
}

async function askReviews(result: Reviewed, { agent, reports, asking, gated }: ReviewDeps): Promise<Reviewed> {
  const asks = new HookRunner(asking, "review");
  let reviewed = result;
  try {
    for (const hooks of agent.hooks) {
      if (!hooks.review) continue;
      const { usage, cost } = reviewed;
      const outcome = reviewed.outcome === "ok" ? "ok" : "error";
      const output = textOfParts(reviewed.output);
      const verdict =
        (await hooks.review({ ...asks.context(hooks, gated.call.callKey), ...gated, outcome, output, usage, cost })) ?? undefined;
      asks.take(hooks, verdict);
      const changes = changesOf(verdict ?? {});
      asks.note(hooks, { action: changes.join(", ") || "unchanged", reason: verdict?.reason, callKey: gated.call.callKey });
      if (verdict) reviewed = changed(reviewed, verdict, gated);
    }
    return withTrace(reviewed, await asks.trace());
  } catch (error) {
    const { usage, cost, expenses } = result;
    const spent = { ...(usage ? { usage } : {}), ...(cost ? { cost } : {}), ...(expenses ? { expenses } : {}) };
    return withTrace({ ...toolFailure(hookFailed(reports, asks.place(), error), gated.tool), ...spent }, await asks.trace());
  }
}

/** Adds the trace of the hooks. The usage of the tool comes before the usage of the hooks. */
function withTrace(reviewed: Reviewed, trace: HookTrace): Reviewed {
  const expenses = [...(reviewed.expenses ?? []), ...(trace.expenses ?? [])];
  return { ...reviewed, ...trace, ...(expenses.length > 0 ? { expenses } : {}) };
}

function changesOf({ state: _, reason: __, ...verdict }: ReviewVerdict): readonly string[] {
  return Object.entries(verdict).flatMap(([name, value]) => (value === undefined || value === false ? [] : [name]));
}

/** @throws TypeError when the output is not JSON */
function changed(reviewed: Reviewed, verdict: ReviewVerdict, { tool }: GatedCall): Reviewed {
  const { fail = false, force, reason = "A hook refused the result." } = verdict;
  const usage = soundUsage(verdict.usage);
  const cost = soundCost(verdict.cost);
  const { cost: _, ...uncosted } = reviewed;
  const next: Reviewed = {
    ...(usage && !cost ? uncosted : reviewed),
    ...(usage ? { usage } : {}),
    ...(cost ? { cost } : {}),
    ...(force === undefined ? {} : { force }),
  };
  if (verdict.output === undefined && !fail) return next;
  // The summary and the details belong to the replaced output and may have what the hook removed, so they are dropped.
  const { summary: __, ...rest } = next;
  const failed = fail ? withoutDetails(toolFailure(new AgentError("TOOL_FAILED", { message: reason, fix: " " }), tool), rest) : rest;
  if (verdict.output === undefined) return failed;
  const output = normaliseOutput(verdict.output, tool.outputMax ?? toolLimits.outputMax);
  if (output.flaw !== undefined) throw new TypeError(`The output that the hook gave is not JSON: it holds ${output.flaw}.`);
  return { ...failed, output: output.parts };
}

function withoutDetails(failed: CallResult, { details: _, ...rest }: Reviewed): Reviewed {
  return { ...rest, ...failed };
}

function textOfParts(parts: readonly ResultPart[]): string {
  return parts
    .map((part) => (part.type === "text" ? part.text : part.type === "json" ? JSON.stringify(part.value) : `[${part.type}]`))
    .join("");
}
