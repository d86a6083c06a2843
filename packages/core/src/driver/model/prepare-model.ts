import type { Agent } from "../../agent/agent.ts";
import type { PrepareVerdict } from "../../agent/hooks.ts";
import type { Effect } from "../../loop/effect.ts";
import type { BodyOf } from "../../loop/fact.ts";
import type { ToolPolicies } from "../../loop/policy.ts";
import type { Run } from "../../loop/state.ts";
import { digestOf } from "../../message/digest.ts";
import { wellFormed } from "../../message/well-formed.ts";
import type { ModelRequest, ToolChoice } from "../../ports/model-provider.ts";
import { createToolRegistry, type ToolRegistry } from "../../tools/tool-registry.ts";
import { type Asked, askVerdict, type ModelScene } from "../effects/ask-prepare.ts";
import type { Maybe } from "../effects/maybe.ts";

type CallModel = Extract<Effect, { readonly type: "call-model" }>;

/** A model call that may be recorded as started; its messages are added when it goes out. */
export interface PreparedModel {
  readonly intent: BodyOf<"model.started">;
  readonly request: Omit<ModelRequest, "messages">;
  /** The tools that the call is shown. */
  readonly registry: ToolRegistry;
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

const isSame = (one: ToolPolicies, other: ToolPolicies): boolean => one === other || JSON.stringify(one) === JSON.stringify(other);

/** Whether the names stand for the same code: a hook may replace a tool under its own name and policy. */
const hasOnly = (registry: ToolRegistry, shown: ToolRegistry): boolean =>
  shown === registry || shown.tools.every((tool) => registry.get(tool.name) === tool);

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
