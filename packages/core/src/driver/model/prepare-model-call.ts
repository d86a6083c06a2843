import type { Agent } from "../../agent/agent.ts";
import type { PrepareVerdict } from "../../agent/hooks.ts";
import type { Effect } from "../../loop/effect.ts";
import type { BodyOf } from "../../loop/fact.ts";
import type { ToolPolicies } from "../../loop/facts/tool-policy.ts";
import type { Run } from "../../loop/state.ts";
import { digestOf } from "../../message/digest.ts";
import { present } from "../../message/drop-undefined.ts";
import type { Message } from "../../message/message.ts";
import type { ModelProvider, ModelRequest, SystemPart, ToolChoice } from "../../ports/model-provider.ts";
import { type AddedMessages, addedMessages } from "../../prompt/added-messages.ts";
import { systemText } from "../../prompt/system-text.ts";
import { cutText } from "../../tools/cut-text.ts";
import { toolLimits } from "../../tools/tool-limits.ts";
import { createToolRegistry, type ToolRegistry } from "../../tools/tool-registry.ts";
import { askVerdict, layersOf, type ModelCallDeps, type PreparedVerdict, systemParts } from "../effects/prepare-hook.ts";
import { type ChosenModel, keyNameOf, resolvedModel } from "../effects/resolve-model.ts";
import { andThen, type SyncOrAsync } from "../effects/sync-or-async.ts";

interface ModelCall extends ModelCallDeps {
  readonly chosen: ChosenModel;
}

type CallModel = Extract<Effect, { readonly type: "call-model" }>;

/** A model call that may be recorded as started; its messages are added when it is sent. */
export interface PreparedModel {
  readonly intent: BodyOf<"model.started">;
  readonly request: Omit<ModelRequest, "messages">;
  /** The provider of the model that is called. */
  readonly provider: ModelProvider;
  /** The tools of the call. */
  readonly registry: ToolRegistry;
  /** True if the deployment gave the model in place of the agent's. */
  readonly isResolved: boolean;
  /** Names the key for the circuit breaker, among all keys of the scope. Absent: the platform's key. */
  readonly key?: string;
  /** The conversation for this call, if a hook chose one. */
  readonly messages?: readonly Message[];
  /** What hooks add to the conversation for this call. */
  readonly added: AddedMessages;
  readonly instead?: never;
}

/** The fact in place of the model call. */
export interface StoppedBefore {
  readonly instead: BodyOf<"run.finished">;
  readonly intent?: never;
}

/** Prepares a model call: chooses the model, and calls the prompt and the `prepare` hooks. Rejects with their error. */
export function prepareModel(effect: CallModel, setup: ModelCallDeps): SyncOrAsync<PreparedModel | StoppedBefore> {
  return andThen(resolvedModel(setup), (chosen) => prepareWith(effect, { ...setup, chosen }));
}

function prepareWith(effect: CallModel, setup: ModelCall): SyncOrAsync<PreparedModel | StoppedBefore> {
  const { hooks } = setup.agent;
  const layers = layersOf(setup);
  const texts = layers.map(({ text }) => (typeof text === "string" ? text : undefined));
  const asks = layers.some(({ text }) => typeof text === "function") || hooks.some(({ prepare }) => prepare);
  return asks ? askAll(effect, setup) : preparedFrom(effect, setup, { prompt: systemParts(layers, texts), verdict: {} });
}

async function askAll(effect: CallModel, setup: ModelCall): Promise<PreparedModel | StoppedBefore> {
  const asked = await askVerdict(setup, { attempt: effect.attempt, model: setup.chosen.model });
  const { verdict, trace } = asked;
  if (!verdict.stop) return preparedFrom(effect, setup, asked);
  const reason = verdict.reason === undefined ? "stopped" : cutText(verdict.reason, toolLimits.errorTextMax);
  return { instead: { type: "run.finished", runId: effect.runId, status: "completed", reason, ...trace } };
}

const isSame = (one: ToolPolicies, other: ToolPolicies): boolean => one === other || JSON.stringify(one) === JSON.stringify(other);

/** True if the shown names stand for the same code: a hook may replace a tool by another tool with the same name and policy. */
const hasOnly = (registry: ToolRegistry, shown: ToolRegistry): boolean =>
  shown === registry || shown.tools.every((tool) => registry.get(tool.name) === tool);

function preparedFrom(
  effect: CallModel,
  { agent, registry, run, context, chosen }: ModelCall,
  { prompt, verdict, trace }: PreparedVerdict,
): PreparedModel {
  const shown = verdict.tools && verdict.tools !== registry.tools ? createToolRegistry(verdict.tools) : registry;
  const { provider, model, link, keyOwner, isResolved } = chosen;
  const request = requestOf(effect, {
    agent,
    provider,
    run,
    verdict: { ...verdict, model: verdict.model ?? model },
    system: systemOf(verdict.system, prompt),
    registry: shown,
  });
  // If a limit has taken the tools away, the loop answers the calls.
  const tools = request.tools || !effect.withTools ? shown.policies() : {};
  const notices = effect.attempt === 1 ? [...effect.notices, ...(verdict.notices ?? [])] : [];
  const requestDigest = digestOf(
    `${request.model}\n${systemText(request.system) ?? ""}\n${request.tools?.map(({ name }) => name).join() ?? ""}\n${run.tip}`,
  );
  const intent: BodyOf<"model.started"> = {
    type: "model.started",
    runId: run.runId,
    turn: effect.turn,
    attempt: effect.attempt,
    provider: provider.name,
    model: request.model,
    requestDigest,
    ...(run.chain && !isResolved ? { link } : {}),
    ...(run.chain || chosen.isAsked ? { keyOwner } : {}),
    ...(isSame(tools, run.tools) && hasOnly(registry, shown) ? {} : { tools }),
    ...(notices.length > 0 ? { notices } : {}),
    ...trace,
  };
  const { messages } = verdict;
  const key = keyNameOf(chosen, context);
  return {
    ...{
      intent,
      provider,
      request: { ...request, cacheKey: context.sessionId },
      registry: shown,
      isResolved,
      added: addedMessages(verdict),
    },
    ...present({ key, messages }),
  };
}

/** The prompt after the hooks: unchanged, or one part with the text of the hooks. */
function systemOf(changed: string | undefined, prompt: readonly SystemPart[]): readonly SystemPart[] {
  if (changed === undefined || changed === systemText(prompt)) return prompt;
  return systemParts([{ text: changed, source: "hook", cache: "session" }], [changed]);
}

interface RequestParts {
  readonly agent: Agent;
  readonly provider: ModelProvider;
  readonly run: Run;
  readonly verdict: PrepareVerdict & { readonly model: string };
  readonly system: readonly SystemPart[];
  readonly registry: ToolRegistry;
}

function requestOf(effect: CallModel, parts: RequestParts): Omit<ModelRequest, "messages"> {
  const { agent, provider, run, verdict, system, registry } = parts;
  const { vendorOptions, stream } = agent;
  const output = run.options?.output ?? agent.output;
  const capabilities = provider.capabilities(verdict.model);
  const sendsTools = effect.withTools && registry.tools.length > 0 && capabilities.tools;
  return {
    model: verdict.model,
    ...(system.length > 0 ? { system } : {}),
    ...(sendsTools ? toolsOf(effect, parts) : {}),
    ...samplingOf(parts),
    ...(output ? { output: { name: output.name, schema: output.schema } } : {}),
    ...(vendorOptions ? { vendorOptions } : {}),
    ...(stream === false || !capabilities.streaming ? { stream: false } : {}),
  };
}

function toolsOf(
  { force }: CallModel,
  { agent, verdict, registry }: RequestParts,
): Pick<ModelRequest, "tools" | "toolChoice" | "parallelToolCalls"> {
  const wanted: ToolChoice | undefined = force === undefined ? verdict.toolChoice : { tool: force };
  // Vendors refuse a `toolChoice` for a tool that is not in the request.
  const toolChoice = typeof wanted === "object" && !registry.get(wanted.tool) ? undefined : wanted;
  const parallelToolCalls = verdict.parallelToolCalls ?? agent.parallelToolCalls;
  return { tools: registry.specs(), ...present({ toolChoice, parallelToolCalls }) };
}

function samplingOf({ agent, run, verdict }: RequestParts): Pick<ModelRequest, "temperature" | "maxTokens" | "reasoning"> {
  const temperature = verdict.temperature ?? run.options?.temperature ?? agent.temperature;
  const maxTokens = verdict.maxTokens ?? run.options?.maxTokens ?? agent.maxTokens;
  const effort = run.options?.reasoningEffort;
  const reasoning = effort === undefined ? agent.reasoning : { ...agent.reasoning, effort };
  return present({ temperature, maxTokens, reasoning });
}
