import type { Effect } from "../../loop/effect.ts";
import type { FactBody } from "../../loop/fact.ts";
import { interrupted } from "../../loop/results-without-run.ts";
import type { ToolCallPart } from "../../message/content.ts";
import { collectOutput } from "../../tools/collect-tool-output.ts";
import { toolFailure } from "../../tools/tool-failure.ts";
import type { ToolRegistry } from "../../tools/tool-registry.ts";
import { toolFilterOf, userFilterOf } from "../effects/filter-hook.ts";
import type { HookDeps } from "../effects/hook-deps.ts";
import type { Deps } from "../setup/session-deps.ts";
import { hookFailed, reportThrown } from "../setup/user-code-errors.ts";
import { runReviewHooks } from "./review-hook.ts";

export type LookupEffect = Extract<Effect, { type: "lookup-tool" }>;

interface LookupDeps {
  readonly deps: Deps;
  readonly registry: ToolRegistry;
  readonly asking: HookDeps;
  readonly calls: readonly ToolCallPart[];
  readonly signal: AbortSignal;
}

/** Calls the tool's `lookup` for a call with an unknown outcome. An answer is filtered and reviewed; without an answer the call is interrupted. */
export async function lookUpCall({ runId, call }: LookupEffect, { deps, registry, asking, calls, signal }: LookupDeps): Promise<FactBody> {
  const { agent } = deps.bound;
  const { part } = call;
  const tool = registry.get(part.name);
  const where = `The \`lookup\` of the tool \`${part.name}\``;
  const onThrown = (error: unknown): void => reportThrown(deps, `${where} threw an error.`, error);
  try {
    const found = await tool?.lookup?.(part.callKey, { signal });
    if (tool === undefined || found === undefined) return interrupted(runId, call);
    const filter = toolFilterOf(userFilterOf(agent, { ...asking.context, tool: part.name, callKey: part.callKey }, deps));
    const result = await collectOutput(found, { name: tool.name, outputMax: tool.outputMax, filter, onThrown });
    const reviewed = await runReviewHooks(result, { agent, reports: deps, asking, gated: { call: part, calls, tool } });
    return { type: "tool.finished", runId, callKey: part.callKey, ...reviewed };
  } catch (error) {
    const { failure } = toolFailure(hookFailed(deps, where, error), { name: part.name });
    return { ...interrupted(runId, call), ...(failure ? { failure } : {}) };
  }
}
