import type { Agent } from "../../agent/agent.ts";
import type { HookContext } from "../../agent/hooks.ts";
import { type Failure, failureOf } from "../../errors.ts";
import type { BodyOf, Decision, RoutedCall } from "../../loop/fact.ts";
import { type CallRoute, policyOfShown } from "../../loop/policy.ts";
import type { Run } from "../../loop/state.ts";
import { mayRetry } from "../../loop/turns.ts";
import type { ToolCallPart } from "../../message/content.ts";
import { type AssistantMessage, callsOf, type Message } from "../../message/message.ts";
import type { Cost, Usage } from "../../message/usage.ts";
import type { ToolRegistry } from "../../tools/tool-registry.ts";
import { follow, type Maybe } from "../effects/maybe.ts";
import { hookFailed, type Reports, reportThrown } from "../setup/user-code.ts";
import type { ModelCallEnd } from "./model-call.ts";
import type { PreparedModel } from "./prepare-model.ts";

type Closing = BodyOf<"model.finished"> | BodyOf<"model.failed">;

interface ClosingScene {
  readonly agent: Agent;
  readonly reports: Reports;
  readonly run: Run;
  readonly context: HookContext;
  /** Copies the list: called once, and only where there is a hook to give it to. */
  readonly messages: () => readonly Message[];
  readonly at: number;
}

/** The closing fact of an attempt, at once where neither prices nor the `decide` hooks are to be asked. */
export function closeModel(prepared: PreparedModel, end: ModelCallEnd, scene: ClosingScene): Maybe<Closing> {
  const { agent, context } = scene;
  const { provider } = prepared.intent;
  const { usage } = end;
  const model = (end.type === "finished" ? end.model : undefined) ?? prepared.intent.model;
  const priced = usage && agent.prices ? costOf(scene, { provider, model, usage, at: scene.at }) : undefined;
  const cost = agent.prices && !usage && wasPaidFor(end) ? uncountedCost : priced;
  return follow(cost, (known) => {
    const closing = closingOf(prepared, end, {
      ...scene,
      spent: { ...(usage ? { usage } : {}), ...(known ? { cost: known } : {}) },
      model,
    });
    const isWhole = closing.type === "model.finished" && closing.stopReason !== "aborted" && closing.stopReason !== "error";
    if (!isWhole || !agent.hooks.some(({ decide }) => decide)) return closing;
    return askDecide(scene, { ...context, message: closing.message, messages: scene.messages() }).then(
      (decision): Closing => ({ ...closing, ...decision }),
    );
  });
}

/** The closing fact of an attempt that was recorded as started and never sent: its run was stopped before. */
export function stoppedModel({ intent: { runId, turn, attempt, provider, model } }: PreparedModel): Closing {
  const message = messageOf({ type: "aborted", parts: [], timings: { totalMs: 0 } }, { provider, model });
  const { stopReason } = message;
  return { type: "model.finished", runId, turn, attempt, message, stopReason, calls: [], timings: { totalMs: 0 } };
}

/** What the vendor charges for and did not count: the sum of the run says that it is higher. */
const uncountedCost: Cost = { totalUsd: 0, partial: true };
const wasPaidFor = (end: ModelCallEnd): boolean => end.type === "finished" || end.parts.length > 0;

function closingOf(
  { intent, registry }: PreparedModel,
  end: ModelCallEnd,
  {
    run,
    spent,
    model,
  }: Pick<ClosingScene, "run"> & { readonly spent: { readonly usage?: Usage; readonly cost?: Cost }; readonly model: string },
): Closing {
  const { runId, turn, attempt, provider } = intent;
  if (end.type === "failed") {
    const failed: BodyOf<"model.failed"> = { type: "model.failed", runId, turn, attempt, failure: end.failure, ...spent };
    if (mayRetry(run, failed) || !end.parts.some((part) => part.type === "text" && part.text.trim() !== "")) return failed;
  }
  const message = messageOf(end, { ...spent, provider, model });
  const { stopReason } = message;
  const base = { type: "model.finished", runId, turn, attempt, message, stopReason, timings: end.timings, ...spent } as const;
  if (stopReason === "aborted") return { ...base, calls: [] };
  if (stopReason === "error") {
    const refused: Failure = { code: "MODEL_REFUSED", message: message.errorMessage ?? "The model declined to answer.", retryable: false };
    return { ...base, calls: [], failure: end.type === "failed" ? end.failure : refused };
  }
  return { ...base, calls: callsOf(message).map((part): RoutedCall => ({ callKey: part.callKey, route: routeOf(part, run, registry) })) };
}

/** A message that was cut off or refused keeps no calls; that of a last attempt that failed keeps what people saw of it. */
function messageOf(
  end: ModelCallEnd,
  more: { readonly provider: string; readonly model: string; readonly usage?: Usage; readonly cost?: Cost },
): AssistantMessage {
  if (end.type === "aborted")
    return { role: "assistant", content: end.parts, stopReason: "aborted", errorMessage: "Stopped before it was complete.", ...more };
  if (end.type === "failed")
    return { role: "assistant", content: end.parts, stopReason: "error", errorMessage: end.failure.message, ...more };
  const isError = end.stopReason === "error";
  return {
    role: "assistant",
    content: isError ? end.parts.filter((part) => part.type !== "tool_call") : end.parts,
    stopReason: end.stopReason,
    ...(end.raw === undefined ? {} : { stopReasonRaw: end.raw }),
    ...(isError ? { errorMessage: end.message ?? "The model declined to answer." } : {}),
    ...more,
  };
}

function routeOf(part: ToolCallPart, run: Run, registry: ToolRegistry): CallRoute {
  const policy = policyOfShown(run, part.name);
  if (!policy) return "unknown";
  return part.problem && !takesDefaults(part, registry) ? "invalid" : policy.home;
}

/** The call's arguments are `{}` already where they have a problem. */
function takesDefaults({ name, problem }: ToolCallPart, registry: ToolRegistry): boolean {
  return (problem === "invalid_json" || problem === "not_an_object") && registry.get(name)?.onBadArguments === "defaults";
}

/** The first hook that says something decides; one that throws fails the run. */
async function askDecide(
  { agent, reports }: ClosingScene,
  context: HookContext & { readonly message: AssistantMessage; readonly messages: readonly Message[] },
): Promise<{ decision?: Decision } | { failure: ReturnType<typeof failureOf> }> {
  for (const { decide } of agent.hooks) {
    if (!decide) continue;
    try {
      const decision = await decide(context);
      if (decision) return { decision };
    } catch (error) {
      return { failure: failureOf(hookFailed(reports, "The hook `decide`", error)) };
    }
  }
  return {};
}

async function costOf(
  { agent, reports }: ClosingScene,
  call: { provider: string; model: string; usage: Usage; at: number },
): Promise<Cost | undefined> {
  try {
    const cost = await agent.prices?.costOf(call);
    return cost && Number.isFinite(cost.totalUsd) && cost.totalUsd >= 0 ? cost : undefined;
  } catch (error) {
    reportThrown(reports, "The price table threw an error.", error);
    return undefined; // A price table that fails, or says what no price is, makes the cost unknown, not the run failed.
  }
}
