import type { Agent, PromptContext } from "../../agent/agent.ts";
import type { HookContext, PrepareContext, PrepareVerdict } from "../../agent/hooks.ts";
import { type Failure, failureOf } from "../../errors.ts";
import type { Effect } from "../../loop/effect.ts";
import type { BodyOf, Decision, RoutedCall } from "../../loop/fact.ts";
import { type CallRoute, policyOfShown, type ToolPolicies } from "../../loop/policy.ts";
import type { Run } from "../../loop/state.ts";
import { mayRetry } from "../../loop/turns.ts";
import type { ToolCallPart } from "../../message/content.ts";
import { digestOf } from "../../message/digest.ts";
import { type AssistantMessage, callsOf, type Message } from "../../message/message.ts";
import type { Cost, Usage } from "../../message/usage.ts";
import { wellFormed } from "../../message/well-formed.ts";
import type { ModelRequest, ToolChoice } from "../../ports/model-provider.ts";
import { createToolRegistry, type ToolRegistry } from "../../tools/tool-registry.ts";
import { follow, type Maybe } from "../effects/maybe.ts";
import { hookFailed, type Reports, reportThrown } from "../setup/user-code.ts";
import type { ModelCallEnd } from "./model-call.ts";

type CallModel = Extract<Effect, { readonly type: "call-model" }>;

/** A model call that may be recorded as started; its messages are added when it goes out. */
export interface PreparedModel {
  readonly intent: BodyOf<"model.started">;
  readonly request: Omit<ModelRequest, "messages">;
  /** The tools that the call is shown. */
  readonly registry: ToolRegistry;
}

interface ModelScene {
  readonly agent: Agent;
  readonly reports: Reports;
  readonly registry: ToolRegistry;
  readonly run: Run;
  readonly context: HookContext;
  /** Copies the list: called once, and only where there is user code to give it to. */
  readonly messages: () => readonly Message[];
}

/** Asks the prompt and the `prepare` hooks, where there are any, what this model call is to be. Rejects with what they throw. */
export function prepareModel(effect: CallModel, scene: ModelScene): Maybe<PreparedModel> {
  const { prompt, hooks } = scene.agent;
  if (typeof prompt === "function" || hooks.some(({ prepare }) => prepare)) return askAll(effect, scene);
  return preparedFrom(effect, scene, { prompt, verdict: {} });
}

async function askAll(effect: CallModel, scene: ModelScene): Promise<PreparedModel> {
  return preparedFrom(effect, scene, await askVerdict(scene, effect.attempt));
}

interface Asked {
  readonly prompt: string | undefined;
  readonly verdict: PrepareVerdict;
}

async function askVerdict(scene: ModelScene, attempt: number): Promise<Asked> {
  const { registry, run, context } = scene;
  const messages = scene.messages();
  const { access, sessionId, turn } = context;
  const prompt = await askPrompt(scene, { access, sessionId, turn, messages, ...placeOf(run) });
  const model = run.options?.model ?? run.model;
  return { prompt, verdict: await askPrepare(scene, { ...context, attempt, messages, system: prompt, tools: registry.tools, model }) };
}

/**
 * What the `prepare` hooks show at this turn when they are asked again: the process that asked them first is gone. The messages of the
 * scene end before the answer to that model call.
 */
export async function askShownTools(scene: ModelScene): Promise<ToolRegistry> {
  const { verdict } = await askVerdict(scene, scene.run.attempt);
  return verdict.tools ? createToolRegistry(verdict.tools) : scene.registry;
}

const isSame = (one: ToolPolicies, other: ToolPolicies): boolean => one === other || JSON.stringify(one) === JSON.stringify(other);

/** Whether the names stand for the same code: a hook may replace a tool under its own name and policy. */
const hasOnly = (registry: ToolRegistry, shown: ToolRegistry): boolean =>
  shown === registry || shown.tools.every((tool) => registry.get(tool.name) === tool);

/** Where in the product the user is. */
function placeOf({ options }: Run): { readonly activeModule?: string; readonly surface?: string } {
  return {
    ...(options?.activeModule === undefined ? {} : { activeModule: options.activeModule }),
    ...(options?.surface === undefined ? {} : { surface: options.surface }),
  };
}

function preparedFrom(effect: CallModel, { agent, registry, run, context }: ModelScene, { prompt, verdict }: Asked): PreparedModel {
  const shown = verdict.tools && verdict.tools !== registry.tools ? createToolRegistry(verdict.tools) : registry;
  const request = requestOf(effect, {
    agent,
    run,
    verdict: { ...verdict, model: verdict.model ?? run.options?.model ?? run.model },
    system: verdict.system ?? prompt,
    registry: shown,
  });
  // Where a limit takes the tools away, the loop answers the calls.
  const tools = request.tools || !effect.withTools ? shown.policies() : {};
  const notices = effect.attempt === 1 ? [...effect.notices, ...(verdict.notices ?? [])] : [];
  const requestDigest = digestOf(
    `${request.model}\n${request.system ?? ""}\n${request.tools?.map(({ name }) => name).join() ?? ""}\n${run.tip}`,
  );
  const intent: BodyOf<"model.started"> = {
    type: "model.started",
    runId: run.runId,
    turn: effect.turn,
    attempt: effect.attempt,
    provider: agent.provider.name,
    model: request.model,
    requestDigest,
    ...(isSame(tools, run.tools) && hasOnly(registry, shown) ? {} : { tools }),
    ...(notices.length > 0 ? { notices } : {}),
  };
  return { intent, request: { ...request, cacheKey: context.sessionId }, registry: shown };
}

async function askPrompt({ agent, reports }: ModelScene, context: PromptContext): Promise<string | undefined> {
  if (typeof agent.prompt !== "function") return agent.prompt;
  try {
    return await agent.prompt(context);
  } catch (error) {
    throw hookFailed(reports, "The function `prompt`", error);
  }
}

async function askPrepare({ agent, reports }: ModelScene, context: PrepareContext): Promise<PrepareVerdict> {
  let verdict: PrepareVerdict = {};
  try {
    for (const hooks of agent.hooks) {
      if (!hooks.prepare) continue;
      const { model = context.model, system = context.system, tools = context.tools } = verdict;
      const next = await hooks.prepare({ ...context, model, system, tools });
      if (next) verdict = { ...verdict, ...next, notices: [...(verdict.notices ?? []), ...(next.notices ?? [])] };
    }
  } catch (error) {
    throw hookFailed(reports, "The hook `prepare`", error);
  }
  return verdict;
}

function requestOf(
  effect: CallModel,
  {
    agent,
    run,
    verdict,
    system,
    registry,
  }: {
    readonly agent: Agent;
    readonly run: Run;
    readonly verdict: PrepareVerdict & { readonly model: string };
    readonly system: string | undefined;
    readonly registry: ToolRegistry;
  },
): Omit<ModelRequest, "messages"> {
  const capabilities = agent.provider.capabilities(verdict.model);
  const sendsTools = effect.withTools && registry.tools.length > 0 && capabilities.tools;
  const wanted: ToolChoice | undefined = effect.force === undefined ? verdict.toolChoice : { tool: effect.force };
  // Vendors refuse a choice of a tool that they are not shown.
  const toolChoice = typeof wanted === "object" && !registry.get(wanted.tool) ? undefined : wanted;
  const temperature = verdict.temperature ?? run.options?.temperature ?? agent.temperature;
  const maxTokens = verdict.maxTokens ?? run.options?.maxTokens ?? agent.maxTokens;
  const parallelToolCalls = verdict.parallelToolCalls ?? agent.parallelToolCalls;
  const effort = run.options?.reasoningEffort;
  const reasoning = effort === undefined ? agent.reasoning : { ...agent.reasoning, effort };
  return {
    model: verdict.model,
    ...(system === undefined || system === "" ? {} : { system: wellFormed(system) }),
    ...(sendsTools ? { tools: registry.specs() } : {}),
    ...(sendsTools && toolChoice ? { toolChoice } : {}),
    ...(sendsTools && parallelToolCalls !== undefined ? { parallelToolCalls } : {}),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(reasoning ? { reasoning } : {}),
    ...(agent.output ? { output: agent.output } : {}),
    ...(agent.vendorOptions ? { vendorOptions: agent.vendorOptions } : {}),
    ...(agent.stream === false || !capabilities.streaming ? { stream: false } : {}),
  };
}

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
