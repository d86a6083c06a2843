import type { Agent } from "../agent/agent.ts";
import type { HookContext, PrepareContext, PrepareVerdict, StreamFilter } from "../agent/hooks.ts";
import { failureOf } from "../errors.ts";
import type { Effect } from "../loop/effect.ts";
import type { BodyOf, Decision, RoutedCall } from "../loop/fact.ts";
import type { CallRoute } from "../loop/policy.ts";
import type { Run } from "../loop/state.ts";
import { mayRetry } from "../loop/turns.ts";
import type { ToolCallPart } from "../message/content.ts";
import { digestOf } from "../message/digest.ts";
import { type AssistantMessage, callsOf, type Message } from "../message/message.ts";
import type { Cost, Usage } from "../message/usage.ts";
import type { ModelRequest, ToolChoice } from "../ports/model-provider.ts";
import type { AnyTool, ToolRegistry } from "../tools/tool-registry.ts";
import { specOf } from "../tools/tool-registry.ts";
import { type ChunkFilter, createChunkFilter } from "./filter-chunks.ts";
import type { ModelCallEnd } from "./model-call.ts";

type CallModel = Extract<Effect, { readonly type: "call-model" }>;

/** A model call that may be recorded as started; its messages are added when it goes out. */
export interface PreparedModel {
  readonly intent: BodyOf<"model.started">;
  readonly request: Omit<ModelRequest, "messages">;
  readonly filter: ChunkFilter | undefined;
}

/** Asks the prompt and the `prepare` hooks what this model call is to be. Rejects with what they throw. */
export async function prepareModel(
  effect: CallModel,
  {
    agent,
    registry,
    run,
    context,
    messages,
  }: {
    readonly agent: Agent;
    readonly registry: ToolRegistry;
    readonly run: Run;
    readonly context: HookContext;
    readonly messages: readonly Message[];
  },
): Promise<PreparedModel> {
  const { access, sessionId, turn } = context;
  const prompt = typeof agent.prompt === "function" ? await agent.prompt({ access, sessionId, turn, messages }) : agent.prompt;
  const base = {
    ...context,
    attempt: effect.attempt,
    messages,
    system: prompt,
    tools: registry.tools,
    model: run.options?.model ?? run.model,
  };
  const verdict = await askPrepare(agent, base);
  const request = requestOf(effect, {
    agent,
    run,
    verdict: { ...verdict, model: verdict.model ?? base.model },
    system: verdict.system ?? prompt,
    tools: verdict.tools ?? registry.tools,
  });
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
    ...(notices.length > 0 ? { notices } : {}),
  };
  return { intent, request: { ...request, cacheKey: sessionId }, filter: filterOf(agent, context) };
}

async function askPrepare(agent: Agent, context: PrepareContext): Promise<PrepareVerdict> {
  let verdict: PrepareVerdict = {};
  for (const hooks of agent.hooks) {
    if (!hooks.prepare) continue;
    const { model = context.model, system = context.system, tools = context.tools } = verdict;
    const next = await hooks.prepare({ ...context, model, system, tools });
    if (next) verdict = { ...verdict, ...next, notices: [...(verdict.notices ?? []), ...(next.notices ?? [])] };
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
    tools,
  }: {
    readonly agent: Agent;
    readonly run: Run;
    readonly verdict: PrepareVerdict & { readonly model: string };
    readonly system: string | undefined;
    readonly tools: readonly AnyTool[];
  },
): Omit<ModelRequest, "messages"> {
  const capabilities = agent.provider.capabilities(verdict.model);
  const sendsTools = effect.withTools && tools.length > 0 && capabilities.tools;
  const toolChoice: ToolChoice | undefined = effect.force === undefined ? verdict.toolChoice : { tool: effect.force };
  const temperature = verdict.temperature ?? run.options?.temperature ?? agent.temperature;
  const maxTokens = verdict.maxTokens ?? run.options?.maxTokens ?? agent.maxTokens;
  const parallelToolCalls = verdict.parallelToolCalls ?? agent.parallelToolCalls;
  const effort = run.options?.reasoningEffort;
  const reasoning = effort === undefined ? agent.reasoning : { ...agent.reasoning, effort };
  return {
    model: verdict.model,
    ...(system === undefined || system === "" ? {} : { system }),
    ...(sendsTools ? { tools: tools.map(specOf) } : {}),
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

function filterOf(agent: Agent, context: HookContext): ChunkFilter | undefined {
  const filters = agent.hooks.flatMap(({ filter }): StreamFilter[] => (filter ? [filter] : []));
  return filters.length === 0 ? undefined : createChunkFilter(filters, (filter, text, kind) => filter.apply(text, { ...context, kind }));
}

/** The closing fact of an attempt. */
export async function closeModel(
  { intent }: PreparedModel,
  end: ModelCallEnd,
  {
    agent,
    run,
    context,
    messages,
    at,
  }: {
    readonly agent: Agent;
    readonly run: Run;
    readonly context: HookContext;
    readonly messages: readonly Message[];
    readonly at: number;
  },
): Promise<BodyOf<"model.finished"> | BodyOf<"model.failed">> {
  const { runId, turn, attempt, provider } = intent;
  const model = (end.type === "finished" ? end.model : undefined) ?? intent.model;
  const cost = end.usage ? await costOf(agent, { provider, model, usage: end.usage, at }) : undefined;
  const spent = { ...(end.usage ? { usage: end.usage } : {}), ...(cost ? { cost } : {}) };
  if (end.type === "failed") {
    const failed: BodyOf<"model.failed"> = { type: "model.failed", runId, turn, attempt, failure: end.failure, ...spent };
    if (mayRetry(run, failed) || !end.parts.some((part) => part.type === "text" && part.text.trim() !== "")) return failed;
  }
  const message = messageOf(end, { ...spent, provider, model });
  const base = {
    type: "model.finished",
    runId,
    turn,
    attempt,
    message,
    stopReason: message.stopReason,
    timings: end.timings,
    ...spent,
  } as const;
  if (message.stopReason === "aborted") return { ...base, calls: [] };
  if (message.stopReason === "error") {
    return {
      ...base,
      calls: [],
      failure:
        end.type === "failed"
          ? end.failure
          : { code: "MODEL_REFUSED", message: message.errorMessage ?? "The model declined to answer.", retryable: false },
    };
  }
  const decision = await askDecide(agent, { ...context, message, messages });
  const calls = callsOf(message).map((part): RoutedCall => ({ callKey: part.callKey, route: routeOf(part, run, agent) }));
  return "failure" in decision ? { ...base, calls, failure: decision.failure } : { ...base, calls, ...decision };
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

function routeOf(part: ToolCallPart, run: Run, agent: Agent): CallRoute {
  const policy = Object.hasOwn(run.tools, part.name) ? run.tools[part.name] : undefined;
  if (!policy) return "unknown";
  return part.problem && !takesDefaults(part, agent) ? "invalid" : policy.home;
}

/** The call's arguments are `{}` already where they have a problem. */
function takesDefaults({ name, problem }: ToolCallPart, agent: Agent): boolean {
  if (problem !== "invalid_json" && problem !== "not_an_object") return false;
  return agent.tools.find((tool) => tool.name === name)?.onBadArguments === "defaults";
}

/** The first hook that says something decides; one that throws fails the run. */
async function askDecide(
  agent: Agent,
  context: HookContext & { readonly message: AssistantMessage; readonly messages: readonly Message[] },
): Promise<{ decision?: Decision } | { failure: ReturnType<typeof failureOf> }> {
  for (const { decide } of agent.hooks) {
    if (!decide) continue;
    try {
      const decision = await decide(context);
      if (decision) return { decision };
    } catch (error) {
      return { failure: failureOf(error) };
    }
  }
  return {};
}

async function costOf(agent: Agent, call: { provider: string; model: string; usage: Usage; at: number }): Promise<Cost | undefined> {
  try {
    return await agent.prices?.costOf(call);
  } catch {
    return undefined; // A price table that fails makes the cost unknown, not the run failed.
  }
}
