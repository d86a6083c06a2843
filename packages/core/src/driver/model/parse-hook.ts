import type { Agent } from "../../agent/agent.ts";
import type { ParseContext } from "../../agent/hooks.ts";
import type { AssistantPart, ToolCallPart } from "../../message/content.ts";
import { findJsonFlaw, type JsonObject } from "../../message/json.ts";
import type { ToolRegistry } from "../../tools/tool-registry.ts";
import type { HookRunner } from "../effects/hook-runner.ts";

/** The parts of an answer; the arguments of its calls are replaced by those that `parse` hooks return. Rejects with the error of a hook. */
export async function parseCalls(
  parts: readonly AssistantPart[],
  { agent, asks, registry }: { readonly agent: Agent; readonly asks: HookRunner; readonly registry: ToolRegistry },
): Promise<readonly AssistantPart[]> {
  const parsed: AssistantPart[] = [];
  for (const part of parts) parsed.push(part.type === "tool_call" ? await parseCall(part, { agent, asks, registry }) : part);
  return parsed;
}

async function parseCall(
  part: ToolCallPart,
  { agent, asks, registry }: { readonly agent: Agent; readonly asks: HookRunner; readonly registry: ToolRegistry },
): Promise<ToolCallPart> {
  const text = part.argsText ?? JSON.stringify(part.args);
  let call = part;
  for (const hooks of agent.hooks) {
    if (!hooks.parse) continue;
    const context: ParseContext = { ...asks.context(hooks), call, text, tool: registry.get(part.name) };
    const verdict = (await hooks.parse(context)) ?? undefined;
    asks.take(hooks, verdict);
    const args = verdict?.args;
    asks.note(hooks, { action: args ? "args" : "unchanged", reason: verdict?.reason, callKey: part.callKey }, "parse");
    if (args) call = withArguments(call, args);
  }
  return call;
}

/** @throws TypeError if the arguments are not a JSON object */
function withArguments({ problem: _, argsText: __, ...call }: ToolCallPart, args: JsonObject): ToolCallPart {
  const flaw = typeof args !== "object" || Array.isArray(args) ? "not_object" : findJsonFlaw(args);
  if (flaw) throw new TypeError(`The arguments that the hook returned are not a JSON object: ${flaw}.`);
  return { ...call, args };
}
