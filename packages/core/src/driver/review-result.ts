import type { Agent } from "../agent/agent.ts";
import type { GateContext } from "../agent/hooks.ts";
import type { CallResult } from "../loop/fact.ts";
import type { ResultPart } from "../message/content.ts";
import { normaliseOutput } from "../tools/normalise-output.ts";
import { toolFailure } from "../tools/tool-failure.ts";
import { toolLimits } from "../tools/tool-limits.ts";
import type { Maybe } from "./maybe.ts";

/** The result as the stream filters and the `review` hooks leave it. A hook that throws fails the call: what it was to check is not shown. */
export function reviewResult(result: CallResult, scene: { readonly agent: Agent; readonly context: GateContext }): Maybe<CallResult> {
  return scene.agent.hooks.length === 0 ? result : askReviews(result, scene);
}

async function askReviews(
  result: CallResult,
  { agent, context }: { readonly agent: Agent; readonly context: GateContext },
): Promise<CallResult> {
  let reviewed = result;
  try {
    for (const { filter } of agent.hooks) {
      if (filter)
        reviewed = {
          ...reviewed,
          output: reviewed.output.map((part) =>
            part.type === "text" ? { ...part, text: filter.apply(part.text, { ...context, kind: "tool" }) } : part,
          ),
        };
    }
    for (const { review } of agent.hooks) {
      if (!review) continue;
      const verdict = await review({
        ...context,
        outcome: reviewed.outcome === "ok" ? "ok" : "error",
        output: textOfParts(reviewed.output),
      });
      if (!verdict) continue;
      const output = normaliseOutput(verdict.output, context.tool.outputMax ?? toolLimits.outputMax);
      if (output.parts) reviewed = { ...reviewed, output: output.parts };
    }
    return reviewed;
  } catch (error) {
    return toolFailure(error, context.tool);
  }
}

function textOfParts(parts: readonly ResultPart[]): string {
  return parts
    .map((part) => (part.type === "text" ? part.text : part.type === "json" ? JSON.stringify(part.value) : `[${part.type}]`))
    .join("");
}
