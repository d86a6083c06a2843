import { interrupted } from "../loop/closing-results.ts";
import type { Effect } from "../loop/effect.ts";
import type { FactBody } from "../loop/fact.ts";
import { collectOutput } from "../tools/run-output.ts";
import { toolFailure } from "../tools/tool-failure.ts";
import type { ToolRegistry } from "../tools/tool-registry.ts";

export type LookupEffect = Extract<Effect, { type: "lookup-tool" }>;

/** What the tool itself says of a call in doubt; silence or an error leaves it interrupted. */
export async function lookUpCall(registry: ToolRegistry, { runId, call }: LookupEffect, signal: AbortSignal): Promise<FactBody> {
  const tool = registry.get(call.part.name);
  try {
    const found = await tool?.lookup?.(call.part.callKey, { signal });
    if (tool === undefined || found === undefined) return interrupted(runId, call);
    const result = await collectOutput(found, { name: tool.name, outputMax: tool.outputMax });
    return { type: "tool.finished", runId, callKey: call.part.callKey, ...result };
  } catch (error) {
    const { failure } = toolFailure(error, { name: call.part.name });
    return { ...interrupted(runId, call), ...(failure ? { failure } : {}) };
  }
}
