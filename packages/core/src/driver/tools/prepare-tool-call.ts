import type { Agent } from "../../agent/agent.ts";
import type { AgentError, ErrorCode } from "../../errors.ts";
import type { Effect } from "../../loop/effect.ts";
import type { BodyOf } from "../../loop/fact.ts";
import { policyOfShown } from "../../loop/facts/tool-policy.ts";
import { closeCall, interrupted } from "../../loop/results-without-run.ts";
import type { Call, Run } from "../../loop/state.ts";
import { canonicalJson } from "../../message/canonical-json.ts";
import { digestOf } from "../../message/digest.ts";
import type { JsonObject } from "../../message/json.ts";
import type { CallOutcome } from "../../message/message.ts";
import { sha256 } from "../../message/sha256.ts";
import { shownId } from "../../message/shown-id.ts";
import type { Clock } from "../../ports/clock.ts";
import { cutText } from "../../tools/cut-text.ts";
import { toolFailure } from "../../tools/tool-failure.ts";
import { toolLimits } from "../../tools/tool-limits.ts";
import type { AnyTool, ToolRegistry } from "../../tools/tool-registry.ts";
import { type ValidatedArguments, validateArguments } from "../../tools/validate-arguments.ts";
import type { HookDeps } from "../effects/hook-deps.ts";
import { HookRunner } from "../effects/hook-runner.ts";
import { andThen, type SyncOrAsync } from "../effects/sync-or-async.ts";
import { hookFailed, type Reports } from "../setup/user-code-errors.ts";
import { approvalPlace, type GateJudgement, runGateHooks } from "./gate-hook.ts";

/** A call that may start, or the fact in place of its start: a result without a run, or the request for approval. */
export type PreparedTool =
  | { readonly intent: BodyOf<"tool.started">; readonly tool: AnyTool; readonly args: unknown; readonly instead?: never }
  | { readonly instead: BodyOf<"tool.finished"> | BodyOf<"approval.requested">; readonly intent?: never };

type RunTool = Extract<Effect, { readonly type: "run-tool" }>;

export interface ToolCallDeps {
  readonly agent: Agent;
  readonly reports: Reports;
  readonly registry: ToolRegistry;
  readonly run: Run;
  readonly asking: HookDeps;
  readonly clock: Clock;
}

/** Checks a call before its tool starts: the tool exists and is enabled, the arguments fit, and no gate denies the call. */
export function prepareTool(effect: RunTool, setup: ToolCallDeps): SyncOrAsync<PreparedTool> {
  const { call } = effect;
  const tool = setup.registry.get(call.part.name);
  if (!tool?.execute)
    return closing(effect, {
      outcome: "error",
      code: "TOOL_UNKNOWN",
      text: `The tool \`${shownId(call.part.name)}\` is not available here.`,
    });
  if (call.part.notStored && !call.args)
    return closing(effect, {
      outcome: "interrupted",
      code: "TOOL_INTERRUPTED",
      text: "Not run: the process that held the arguments has ended, and they are not stored. Call the tool again.",
    });
  const asksPeople =
    tool.enabled !== undefined ||
    (!call.approval && !call.suspensions && (tool.approval !== undefined || setup.agent.hooks.some(({ gate }) => gate)));
  if (asksPeople) return askAll(effect, tool, setup);
  const checked = validateArguments(tool, argsOf(call));
  return andThen(
    checked,
    (found): PreparedTool =>
      found.problem === undefined
        ? { intent: intentOf(effect, setup.run, { tool }), tool, args: found.args }
        : refused(effect, found, setup),
  );
}

function closing({ runId, call }: RunTool, end: { outcome: CallOutcome; code: ErrorCode; text: string }): PreparedTool {
  return { instead: closeCall(runId, call, end) };
}

/** The result for arguments that do not fit, or for a schema that threw. */
function refused(
  effect: RunTool,
  { problem, thrown }: Extract<ValidatedArguments, { readonly problem: string }>,
  { reports, start = "" }: Pick<ToolCallDeps, "reports"> & { readonly start?: string },
): PreparedTool {
  if (thrown === undefined) return closing(effect, { outcome: "error", code: "TOOL_ARGUMENTS", text: `${start}${problem}` });
  const { message } = hookFailed(reports, `The schema of the tool \`${effect.call.part.name}\``, thrown);
  return closing(effect, { outcome: "error", code: "HOOK_FAILED", text: message });
}

/** Does the checks that need user code, after the others. The gates of a call that was approved are not called again. */
async function askAll(effect: RunTool, tool: AnyTool, setup: ToolCallDeps): Promise<PreparedTool> {
  const { call } = effect;
  const { agent, reports, run, asking } = setup;
  const asks = new HookRunner(asking, "gate");
  let source = `The function \`enabled\` of the tool \`${tool.name}\``;
  try {
    if (tool.enabled && !(await tool.enabled({ access: asking.context.access }))) {
      return closing(effect, { outcome: "denied", code: "TOOL_NOT_ENABLED", text: `The tool \`${tool.name}\` is not enabled.` });
    }
    const first = await validateArguments(tool, argsOf(call));
    if (first.problem !== undefined) return refused(effect, first, setup);
    if (call.approval || call.suspensions) return { intent: intentOf(effect, run, { tool }), tool, args: first.args };
    source = approvalPlace(tool);
    const gated = { call: call.part, calls: run.calls.map(({ part }) => part), tool };
    const judged = await runGateHooks(agent, gated, { asks, args: first.args });
    const trace = await asks.trace();
    if (judged.action === "deny") return { instead: { ...denied(run.runId, call, judged.reason), ...trace } };
    const edited = judged.args ? await validateArguments(tool, judged.args) : first;
    if (edited.problem !== undefined) return refused(effect, edited, { reports, start: "A hook edited the arguments. " });
    if (judged.action === "ask") {
      // The outcome of a call that was started before is unknown, so the call cannot be approved any more.
      return { instead: effect.attempt > 1 ? interrupted(run.runId, call) : { ...(await approvalOf(call, judged, setup)), ...trace } };
    }
    return {
      intent: { ...intentOf(effect, run, { tool, ...(judged.args ? { args: judged.args } : {}) }), ...trace },
      tool,
      args: edited.args,
    };
  } catch (error) {
    return { instead: failedGate(run.runId, call, { tool, error: hookFailed(reports, asks.place("gate", source), error) }) };
  }
}

/** The result of a call that a gate denied. */
export function denied(runId: string, call: Call, reason: string): BodyOf<"tool.finished"> {
  return closeCall(runId, call, { outcome: "denied", code: "TOOL_DENIED", text: cutText(`Denied: ${reason}`, toolLimits.errorTextMax) });
}

/** The result of a call whose gates failed. */
export function failedGate(
  runId: string,
  { part }: Call,
  { tool, error }: { readonly tool: { readonly name: string }; readonly error: AgentError },
): BodyOf<"tool.finished"> {
  return { type: "tool.finished", runId, callKey: part.callKey, ...toolFailure(error, tool) };
}

export const argsOf = ({ args, part }: Call): JsonObject => args ?? part.args;

/** The request for a person's approval of the call. */
export async function approvalOf(
  call: Call,
  asked: Extract<GateJudgement, { action: "ask" }>,
  { run, clock }: Pick<ToolCallDeps, "run" | "clock">,
): Promise<BodyOf<"approval.requested">> {
  const args = asked.args ?? argsOf(call);
  return {
    type: "approval.requested",
    runId: run.runId,
    callKey: call.part.callKey,
    argsDigest: await argumentsDigest(args),
    ...(asked.timeoutMs === undefined ? {} : { deadline: clock.now() + asked.timeoutMs }),
    ...(asked.reason === undefined ? {} : { reason: cutText(asked.reason, toolLimits.errorTextMax) }),
    ...(asked.args ? { args } : {}),
  };
}

/** The digest that an approval is bound to: the SHA-256 of the canonical text of the arguments. */
function argumentsDigest(args: JsonObject): Promise<string> {
  return sha256(new TextEncoder().encode(canonicalJson(args)));
}

function intentOf({ attempt, call }: RunTool, run: Run, { tool, args }: { tool: AnyTool; args?: JsonObject }): BodyOf<"tool.started"> {
  const { callKey } = call.part;
  return {
    type: "tool.started",
    runId: run.runId,
    callKey,
    attempt,
    argsDigest: digestOf(JSON.stringify(args ?? argsOf(call))),
    replay: policyOfShown(run, tool.name)?.replay ?? "once",
    idempotencyKey: callKey,
    ...(tool.label === undefined ? {} : { label: tool.label }),
    ...(args ? { args } : {}),
  };
}
