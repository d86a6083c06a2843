import type { Effect } from "../../loop/effect.ts";
import type { State } from "../../loop/state.ts";
import type { Message } from "../../message/message.ts";
import { type Cost, tokensOf, type Usage } from "../../message/usage.ts";
import type { MessageSizes } from "../../ports/context-engine.ts";
import type { UsageAmount } from "../../ports/usage-ledger.ts";
import { addedBehind } from "../../prompt/added-messages.ts";
import { charactersPerToken, estimatedSizes, lengthOf } from "../../prompt/message-length.ts";
import type { RequestBuilder } from "../../prompt/request-builder.ts";
import { costOf } from "../effects/cost-of-usage.ts";
import type { EffectContext } from "../effects/hook-deps.ts";
import type { Deps } from "../setup/session-deps.ts";
import type { ModelAttemptEnd } from "./model-attempt.ts";
import type { PreparedModel } from "./prepare-model-call.ts";

/** A prepared attempt of a model call, to be compared with what the limits leave. */
export interface AllowanceRequest {
  readonly effect: Extract<Effect, { readonly type: "call-model" }>;
  readonly prepared: PreparedModel;
  readonly state: State;
  readonly context: Pick<EffectContext, "access">;
  /** Absent: estimated. */
  readonly sizes: MessageSizes | undefined;
}

/** The tokens of an answer if neither the request nor the model has a limit. */
const outputTokensUsual = 4_096;

/** The most tokens of the answer. */
export const outputBoundOf = ({ request, provider }: PreparedModel): number =>
  request.maxTokens ?? provider.capabilities(request.model).outputTokensMax ?? outputTokensUsual;

/** The expected tokens of the prompt, and the most tokens of the answer. */
export function expectedUsage({ effect, prepared, state, sizes }: AllowanceRequest, builder: RequestBuilder): Usage {
  const { request, messages, added } = prepared;
  const known = sizes ?? estimatedSizes;
  const sizeOfAll = (all: readonly Message[]): number => all.reduce((sum, message) => sum + known.sizeOf(message), 0);
  const history = messages ? undefined : builder.historyAt(state);
  const notices = (prepared.intent.notices ?? effect.notices).map((text): Message => ({ role: "notice", text }));
  const joining = (state.run?.steered ?? []).flatMap(({ message }) => message ?? []);
  const before = history ? (sizes?.sizeOfAll(history.messages) ?? history.textLength) : sizeOfAll(messages ?? []);
  const length = before + sizeOfAll([...added.examples, ...addedBehind(added), ...joining, ...notices]) + known.sizeBeside(request);
  return { input: Math.ceil(length / charactersPerToken), output: outputBoundOf(prepared), source: "estimated" };
}

/** The tokens of the usage, and its cost if it is known. */
export async function amountOf(deps: Deps, { intent: { provider, model } }: PreparedModel, usage: Usage): Promise<UsageAmount> {
  const { prices } = deps.bound.agent;
  const cost = prices && (await costOf({ ...deps, prices }, { provider, model, usage, at: deps.clock.now() }));
  return { tokens: tokensOf(usage), ...(cost ? { costUsd: cost.totalUsd } : {}) };
}

/** The most that a call may spend. */
export interface MostSpent {
  readonly usage: Usage;
  readonly cost?: Cost;
}

export async function mostOf(deps: Deps, request: AllowanceRequest, builder: RequestBuilder): Promise<MostSpent> {
  const usage = expectedUsage(request, builder);
  const { costUsd } = await amountOf(deps, request.prepared, usage);
  return { usage, ...(costUsd === undefined ? {} : { cost: { totalUsd: costUsd, partial: true } }) };
}

/** What is left of a limit, in its unit. */
export interface LeftOfLimit {
  readonly which: "tokens" | "costUsd";
  readonly left: number;
}

/** A call, and the most that it may spend. */
export interface ExpectedCall {
  readonly prepared: PreparedModel;
  readonly expected: Usage;
}

/** The most tokens of an answer with which the call fits into what is left; negative if the prompt alone does not fit. */
export async function roomFor(deps: Deps, { prepared, expected }: ExpectedCall, { which, left }: LeftOfLimit): Promise<number> {
  const { input = 0, output = 0 } = expected;
  if (which === "tokens") return Math.floor(left - input);
  const [whole, read] = await Promise.all([
    amountOf(deps, prepared, expected),
    amountOf(deps, prepared, { input, output: 0, source: "estimated" }),
  ]);
  // If the price is unknown, money does not limit the answer.
  if (whole.costUsd === undefined) return output;
  const perToken = (whole.costUsd - (read.costUsd ?? 0)) / Math.max(1, output);
  const rest = left - (read.costUsd ?? 0);
  return perToken > 0 ? Math.floor(rest / perToken) : rest < 0 ? -1 : output;
}

/**
 * The end of an attempt, with usage. What the vendor did not report is estimated and has `source: "estimated"`: all of it, or the output alone if the
 * stream was cut. A vendor that refused before any output charges nothing, so nothing is added.
 */
export function countedEnd<End extends ModelAttemptEnd>(end: End, { input = 0 }: Usage): End {
  const { usage, parts } = end;
  const isRefused = end.type === "failed" && parts.length === 0 && end.failure.code !== "MODEL_TIMEOUT" && !end.isCut;
  if ((!usage && isRefused) || usage?.total !== undefined) return end;
  const written = Math.ceil(lengthOf({ role: "assistant", content: parts, stopReason: "stop" }) / charactersPerToken);
  const read = usage?.input ?? usage?.cacheRead ?? usage?.cacheWrite;
  const isCut = (end.type !== "finished" || end.isCut) && written > (usage?.output ?? 0);
  if (usage && read !== undefined && usage.output !== undefined && !isCut) return end;
  const output = isCut ? written : (usage?.output ?? written);
  return { ...end, usage: { ...usage, ...(read === undefined ? { input } : {}), output, source: "estimated" } };
}
