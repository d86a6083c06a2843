import type { Agent } from "../../agent/agent.ts";
import type { GateContext } from "../../agent/hooks.ts";
import type { CallResult } from "../../loop/fact.ts";
import type { ResultPart } from "../../message/content.ts";
import { normaliseOutput } from "../../tools/normalise-output.ts";
import { toolFailure } from "../../tools/tool-failure.ts";
import { toolLimits } from "../../tools/tool-limits.ts";
import type { Maybe } from "../effects/maybe.ts";
import type { Deps } from "../setup/deps.ts";
import { hookFailed } from "../setup/user-code.ts";

interface ReviewScene {
  readonly agent: Agent;
  readonly deps: Pick<Deps, "logger" | "sessionId">;
  readonly context: GateContext;
}

/** The result as the `review` hooks leave it. A hook that throws fails the call: what it was to check is not shown. */
export function reviewResult(result: CallResult, scene: ReviewScene): Maybe<CallResult> {
  return scene.agent.hooks.some(({ review }) => review) ? askReviews(result, scene) : result;
}

async function askReviews(result: CallResult, { agent, deps, context }: ReviewScene): Promise<CallResult> {
  let reviewed = result;
  try {
    for (const { review } of agent.hooks) {
      if (!review) continue;
      const verdict = await review({
        ...context,
        outcome: reviewed.outcome === "ok" ? "ok" : "error",
        output: textOfParts(reviewed.output),
      });
      if (!verdict) continue;
      const output = normaliseOutput(verdict.output, context.tool.outputMax ?? toolLimits.outputMax);
      if (output.flaw !== undefined) throw new TypeError(`The output that the hook gave is not JSON: it holds ${output.flaw}.`);
      // The summary is of the output that was replaced: it may say what the hook took out.
      const { summary: _, ...rest } = reviewed;
      reviewed = { ...rest, output: output.parts };
    }
    return reviewed;
  } catch (error) {
    return toolFailure(hookFailed(deps, "The hook `review`", error), context.tool);
  }
}

function textOfParts(parts: readonly ResultPart[]): string {
  return parts
    .map((part) => (part.type === "text" ? part.text : part.type === "json" ? JSON.stringify(part.value) : `[${part.type}]`))
    .join("");
}
