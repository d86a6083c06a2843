import type { Agent } from "../../agent/agent.ts";
import type { HookContext } from "../../agent/hooks.ts";
import type { ErrorCode } from "../../errors.ts";
import { closeCall, interrupted } from "../../loop/closing-results.ts";
import type { Effect } from "../../loop/effect.ts";
import type { BodyOf } from "../../loop/fact.ts";
import { policyOfShown } from "../../loop/policy.ts";
import type { Run } from "../../loop/state.ts";
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
import { follow, type Maybe } from "../effects/maybe.ts";
import { hookFailed, type Reports } from "../setup/user-code.ts";
import { askGates, type GateJudgement } from "./ask-gates.ts";

/** A call that may start, or what is recorded in place of its start: the result that it gets without, or the question to a person. */
export type PreparedTool =
  | { readonly intent: BodyOf<"tool.started">; readonly tool: AnyTool; readonly args: unknown; readonly instead?: never }
  | { readonly instead: BodyOf<"tool.finished"> | BodyOf<"approval.requested">; readonly intent?: never };

type RunTool = Extract<Effect, { readonly type: "run-tool" }>;

interface ToolScene {
  readonly agent: Agent;
  readonly reports: Reports;
  readonly registry: ToolRegistry;
  readonly run: Run;
  readonly context: HookContext;
  readonly clock: Clock;
}

/** Asks everything that must be known before a tool starts: is it there, enabled, are its arguments good, does a gate object. */
export function prepareTool(effect: RunTool, scene: ToolScene): Maybe<PreparedTool> {
  const { call } = effect;
  const tool = scene.registry.get(call.part.name);
  if (!tool?.execute)
    return closing(effect, {
      outcome: "error",
      code: "TOOL_UNKNOWN",
      text: `The tool \`${shownId(call.part.name)}\` is not available here.`,
    });
  const asksPeople = tool.enabled !== undefined || (!call.approval && scene.agent.hooks.some(({ gate }) => gate));
  if (asksPeople) return askAll(effect, tool, scene);
  const checked = validateArguments(tool, argsOf(call));
  return follow(
    checked,
    (found): PreparedTool =>
      found.problem === undefined
        ? { intent: intentOf(effect, scene.run, { tool }), tool, args: found.args }
        : refused(effect, found, scene),
  );
}

function closing({ runId, call }: RunTool, end: { outcome: CallOutcome; code: ErrorCode; text: string }): PreparedTool {
  return { instead: closeCall(runId, call, end) };
}

/** What the model is told of arguments that do not fit, or of a schema that threw. */
function refused(
  effect: RunTool,
  { problem, thrown }: Extract<ValidatedArguments, { readonly problem: string }>,
  { reports, start = "" }: Pick<ToolScene, "reports"> & { readonly start?: string },
): PreparedTool {
  if (thrown === undefined) return closing(effect, { outcome: "error", code: "TOOL_ARGUMENTS", text: `${start}${problem}` });
  const { message } = hookFailed(reports, `The schema of the tool \`${effect.call.part.name}\``, thrown);
  return closing(effect, { outcome: "error", code: "HOOK_FAILED", text: message });
}

/** The same, where user code has a say. A call that a person has allowed is asked about no more. */
async function askAll(effect: RunTool, tool: AnyTool, scene: ToolScene): Promise<PreparedTool> {
  const { call } = effect;
  const { agent, reports, run, context } = scene;
  let place = `The function \`enabled\` of the tool \`${tool.name}\``;
  try {
    if (tool.enabled && !(await tool.enabled({ access: context.access }))) {
      return closing(effect, { outcome: "denied", code: "TOOL_NOT_ENABLED", text: `The tool \`${tool.name}\` is not enabled.` });
    }
    const first = await validateArguments(tool, argsOf(call));
    if (first.problem !== undefined) return refused(effect, first, scene);
    if (call.approval) return { intent: intentOf(effect, run, { tool }), tool, args: first.args };
    place = "The hook `gate`";
    const judged = await askGates(agent, { ...context, call: call.part, tool });
    if (judged.action === "deny") {
      return closing(effect, {
        outcome: "denied",
        code: "TOOL_DENIED",
        text: cutText(`Denied: ${judged.reason}`, toolLimits.errorTextMax),
      });
    }
    const edited = judged.args ? await validateArguments(tool, judged.args) : first;
    if (edited.problem !== undefined) return refused(effect, edited, { reports, start: "A hook edited the arguments. " });
    if (judged.action === "ask") return await askPerson(effect, judged, scene);
    return { intent: intentOf(effect, run, { tool, ...(judged.args ? { args: judged.args } : {}) }), tool, args: edited.args };
  } catch (error) {
    return {
      instead: {
        type: "tool.finished",
        runId: run.runId,
        callKey: call.part.callKey,
        ...toolFailure(hookFailed(reports, place, error), tool),
      },
    };
  }
}

const argsOf = ({ args, part }: RunTool["call"]): JsonObject => args ?? part.args;

/** Before the first attempt only: of one that was begun already nobody knows what it did, so that there is nothing to allow any more. */
async function askPerson(
  effect: RunTool,
  asked: Extract<GateJudgement, { action: "ask" }>,
  { run, clock }: ToolScene,
): Promise<PreparedTool> {
  const { call, attempt } = effect;
  if (attempt > 1) return { instead: interrupted(run.runId, call) };
  const args = asked.args ?? argsOf(call);
  return {
    instead: {
      type: "approval.requested",
      runId: run.runId,
      callKey: call.part.callKey,
      argsDigest: await argumentsDigest(args),
      ...(asked.timeoutMs === undefined ? {} : { deadline: clock.now() + asked.timeoutMs }),
      ...(asked.reason === undefined ? {} : { reason: cutText(asked.reason, toolLimits.errorTextMax) }),
      ...(asked.args ? { args } : {}),
    },
  };
}

/** What an approval stands for: the SHA-256 of the arguments' canonical text. */
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
