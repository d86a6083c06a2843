import type { Agent } from "../../agent/agent.ts";
import { type Failure, failureOf } from "../../errors.ts";
import type { BodyOf, HookPoint, RoutedCall } from "../../loop/fact.ts";
import { type CallRoute, policyOfShown } from "../../loop/facts/tool-policy.ts";
import { mayRetry } from "../../loop/retry/may-call-model-again.ts";
import type { ModelLink } from "../../loop/retry/next-model-of-chain.ts";
import type { Run } from "../../loop/state.ts";
import type { ToolCallPart } from "../../message/content.ts";
import { type AssistantMessage, callsOf, type Message } from "../../message/message.ts";
import type { Cost, Usage } from "../../message/usage.ts";
import type { ToolRegistry } from "../../tools/tool-registry.ts";
import { costOf } from "../effects/cost-of-usage.ts";
import { movedOn, nextModel } from "../effects/fallback-model.ts";
import type { HookDeps } from "../effects/hook-deps.ts";
import { HookRunner } from "../effects/hook-runner.ts";
import { andThen, type SyncOrAsync } from "../effects/sync-or-async.ts";
import { hookFailed, type Reports } from "../setup/user-code-errors.ts";
import { checkTypedOutput } from "./check-typed-output.ts";
import { type Closing, runDecideHooks } from "./decide-hook.ts";
import type { ModelAttemptEnd } from "./model-attempt.ts";
import { parseCalls } from "./parse-hook.ts";
import type { PreparedModel } from "./prepare-model-call.ts";

interface ClosingDeps {
  readonly agent: Agent;
  readonly reports: Reports;
  readonly run: Run;
  readonly asking: HookDeps;
  /** Copies the list. Called once, and only if there is a hook that gets the copy. */
  readonly messages: () => readonly Message[];
  readonly at: number;
}

/** The closing fact of an attempt; synchronous if neither a price table nor a hook is called. */
export function closeModel(prepared: PreparedModel, end: ModelAttemptEnd, setup: ClosingDeps): SyncOrAsync<Closing> {
  const { agent } = setup;
  const isWhole = end.type === "finished" && end.stopReason !== "error";
  if (!isWhole) return closeUnasked(prepared, end, setup);
  const asks = agent.hooks.some(({ parse, decide }) => parse || decide);
  const closing = asks ? closeAsked(prepared, end, setup) : closeUnasked(prepared, end, setup);
  return andThen(closing, (body) => (body.type === "model.finished" ? checkTypedOutput(body, setup) : body));
}

function closeUnasked(prepared: PreparedModel, end: ModelAttemptEnd, setup: ClosingDeps): SyncOrAsync<Closing> {
  const { agent, run } = setup;
  const { usage } = end;
  const model = modelOf(prepared, end);
  const priced = usage && agent.prices ? priceOf(prepared, end, setup)(usage) : undefined;
  return andThen(priced, (cost) => {
    // What the vendor did not count makes the sum of the run an estimate.
    const known = cost && usage?.source === "estimated" ? { ...cost, partial: true } : cost;
    const spent = { ...(usage ? { usage } : {}), ...(known ? { cost: known } : {}) };
    return closingOf(prepared, end, { run, spent, model });
  });
}

/** The closing fact with the verdicts of the `parse` and `decide` hooks. A hook that throws fails the run; the answer is kept. */
async function closeAsked(
  prepared: PreparedModel,
  end: Extract<ModelAttemptEnd, { type: "finished" }>,
  setup: ClosingDeps,
): Promise<Closing> {
  const { agent, reports, run, asking } = setup;
  const { registry } = prepared;
  const asks = new HookRunner(asking, "decide");
  let point: HookPoint = "parse";
  let closing: Closing | undefined;
  try {
    const parts = agent.hooks.some(({ parse }) => parse) ? await parseCalls(end.parts, { agent, asks, registry }) : end.parts;
    closing = await closeUnasked(prepared, { ...end, parts }, setup);
    if (closing.type !== "model.finished" || !agent.hooks.some(({ decide }) => decide)) return { ...closing, ...(await asks.trace()) };
    point = "decide";
    const price = priceOf(prepared, end, setup);
    const decided = await runDecideHooks(closing, {
      agent,
      asks,
      run,
      access: asking.context.access,
      registry,
      messages: setup.messages(),
      price,
    });
    return { ...decided, ...(await asks.trace()) };
  } catch (error) {
    const failure = failureOf(hookFailed(reports, asks.place(point), error));
    const kept = closing ?? (await closeUnasked(prepared, end, setup));
    return { ...kept, failure, ...(await asks.trace()) };
  }
}

const modelOf = ({ intent }: PreparedModel, end: ModelAttemptEnd): string =>
  (end.type === "finished" ? end.model : undefined) ?? intent.model;

/** Computes the cost of usage of this call. */
function priceOf(
  prepared: PreparedModel,
  end: ModelAttemptEnd,
  { agent, reports, at }: ClosingDeps,
): (usage: Usage) => Promise<Cost | undefined> {
  const { provider } = prepared.intent;
  const model = modelOf(prepared, end);
  return (usage) => costOf({ ...reports, prices: agent.prices }, { provider, model, usage, at });
}

/** The closing fact of an attempt that was recorded as started and never sent, because the run was stopped first. */
export function stoppedModel({ intent: { runId, turn, attempt, provider, model } }: PreparedModel): Closing {
  const message = messageOf({ type: "aborted", parts: [], timings: { totalMs: 0 } }, { provider, model });
  const { stopReason } = message;
  return { type: "model.finished", runId, turn, attempt, message, stopReason, calls: [], timings: { totalMs: 0 } };
}

function closingOf(
  { intent, registry, isResolved }: PreparedModel,
  end: ModelAttemptEnd,
  {
    run,
    spent,
    model,
  }: Pick<ClosingDeps, "run"> & { readonly spent: { readonly usage?: Usage; readonly cost?: Cost }; readonly model: string },
): Closing {
  const { runId, turn, attempt, provider } = intent;
  if (end.type === "failed") {
    const failed: BodyOf<"model.failed"> = {
      type: "model.failed",
      runId,
      turn,
      attempt,
      ...movedTo(run, end, { intent, isResolved }),
      ...spent,
    };
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

function movedTo(
  run: Run,
  { failure, parts, isSpent }: Extract<ModelAttemptEnd, { type: "failed" }>,
  { intent: { attempt }, isResolved }: Pick<PreparedModel, "intent" | "isResolved">,
): { readonly failure: Failure; readonly next?: ModelLink } {
  const next = nextModel(run, { attempt, failure, hasSpoken: parts.length > 0, isResolved, isSpent });
  return next ? movedOn(failure, next) : { failure };
}

/** A message that was cut off or refused keeps no calls; the message of a failed last attempt keeps the text that was published. */
function messageOf(
  end: ModelAttemptEnd,
  more: { readonly provider: string; readonly model: string; readonly usage?: Usage; readonly cost?: Cost },
): AssistantMessage {
  if (end.type === "aborted")
    return { role: "assistant", content: end.parts, stopReason: "aborted", errorMessage: "The answer was stopped early.", ...more };
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

/** True if the tool runs with `{}`, because its arguments were not a valid JSON object. */
function takesDefaults({ name, problem }: ToolCallPart, registry: ToolRegistry): boolean {
  return (problem === "invalid_json" || problem === "not_an_object") && registry.get(name)?.onBadArguments === "defaults";
}
