import type { Agent } from "../agent/agent.ts";
import type { GateContext, HookContext } from "../agent/hooks.ts";
import { AgentError, type ErrorCode } from "../errors.ts";
import { closeCall } from "../loop/closing-results.ts";
import type { Effect } from "../loop/effect.ts";
import type { BodyOf } from "../loop/fact.ts";
import type { Run } from "../loop/state.ts";
import { digestOf } from "../message/digest.ts";
import type { JsonObject } from "../message/json.ts";
import type { CallOutcome } from "../message/message.ts";
import { cutText } from "../tools/cut-text.ts";
import { toolFailure } from "../tools/tool-failure.ts";
import { toolLimits } from "../tools/tool-limits.ts";
import type { AnyTool, ToolRegistry } from "../tools/tool-registry.ts";
import { validateArguments } from "../tools/validate-arguments.ts";
import { follow, type Maybe } from "./maybe.ts";

/** A call that may start, or the result it gets without. */
export type PreparedTool =
  | { readonly intent: BodyOf<"tool.started">; readonly tool: AnyTool; readonly args: unknown; readonly closing?: never }
  | { readonly closing: BodyOf<"tool.finished">; readonly intent?: never };

type RunTool = Extract<Effect, { readonly type: "run-tool" }>;

interface ToolScene {
  readonly agent: Agent;
  readonly registry: ToolRegistry;
  readonly run: Run;
  readonly context: HookContext;
}

/** Asks everything that must be known before a tool starts: is it there, enabled, are its arguments good, does a gate object. */
export function prepareTool(effect: RunTool, scene: ToolScene): Maybe<PreparedTool> {
  const { call } = effect;
  const tool = scene.registry.get(call.part.name);
  if (!tool?.execute)
    return closing(effect, { outcome: "error", code: "TOOL_UNKNOWN", text: `The tool \`${call.part.name}\` is not available here.` });
  const asksPeople = tool.enabled !== undefined || (!call.approval && scene.agent.hooks.some(({ gate }) => gate));
  if (asksPeople) return askAll(effect, tool, scene);
  const checked = validateArguments(tool, call.args ?? call.part.args);
  return follow(
    checked,
    ({ args, problem }): PreparedTool =>
      problem === undefined
        ? { intent: intentOf(effect, scene.run, { tool }), tool, args }
        : closing(effect, { outcome: "error", code: "TOOL_ARGUMENTS", text: problem }),
  );
}

function closing({ runId, call }: RunTool, end: { outcome: CallOutcome; code: ErrorCode; text: string }): PreparedTool {
  return { closing: closeCall(runId, call, end) };
}

/** The same, where user code has a say. */
async function askAll(effect: RunTool, tool: AnyTool, { agent, run, context }: ToolScene): Promise<PreparedTool> {
  const { call } = effect;
  try {
    if (tool.enabled && !(await tool.enabled({ access: context.access }))) {
      return closing(effect, { outcome: "denied", code: "TOOL_NOT_ENABLED", text: `The tool \`${tool.name}\` is not enabled.` });
    }
    const first = await validateArguments(tool, call.args ?? call.part.args);
    if (first.problem !== undefined) return closing(effect, { outcome: "error", code: "TOOL_ARGUMENTS", text: first.problem });
    const verdict = call.approval ? undefined : await askGates(agent, { ...context, call: call.part, tool });
    if (verdict?.action === "deny") {
      return closing(effect, {
        outcome: "denied",
        code: "TOOL_DENIED",
        text: cutText(`Denied: ${verdict.reason}`, toolLimits.errorTextMax),
      });
    }
    if (verdict?.action !== "edit") return { intent: intentOf(effect, run, { tool }), tool, args: first.args };
    const edited = await validateArguments(tool, verdict.args);
    if (edited.problem === undefined) return { intent: intentOf(effect, run, { tool, args: verdict.args }), tool, args: edited.args };
    return closing(effect, { outcome: "error", code: "TOOL_ARGUMENTS", text: `A hook edited the arguments. ${edited.problem}` });
  } catch (error) {
    return { closing: { type: "tool.finished", runId: run.runId, callKey: call.part.callKey, ...toolFailure(error, tool) } };
  }
}

function intentOf({ attempt, call }: RunTool, run: Run, { tool, args }: { tool: AnyTool; args?: JsonObject }): BodyOf<"tool.started"> {
  const { callKey } = call.part;
  return {
    type: "tool.started",
    runId: run.runId,
    callKey,
    attempt,
    argsDigest: digestOf(JSON.stringify(args ?? call.args ?? call.part.args)),
    replay: run.tools[tool.name]?.replay ?? "once",
    idempotencyKey: callKey,
    ...(tool.label === undefined ? {} : { label: tool.label }),
    ...(args ? { args } : {}),
  };
}

/** The first denial decides; edits pass from gate to gate. */
async function askGates(
  agent: Agent,
  context: GateContext,
): Promise<{ action: "deny"; reason: string } | { action: "edit"; args: JsonObject } | undefined> {
  let call = context.call;
  for (const hooks of agent.hooks) {
    const verdict = hooks.gate ? await hooks.gate({ ...context, call }) : undefined;
    if (verdict?.action === "deny") return verdict;
    if (verdict?.action === "edit") call = { ...call, args: verdict.args };
    else if (verdict && verdict.action !== "allow") {
      throw new AgentError("CONFIG_INVALID", { message: "A gate gave an unknown verdict.", fix: "Return allow, edit or deny." });
    }
  }
  return call === context.call ? undefined : { action: "edit", args: call.args };
}
