import type { BodyOf } from "../../loop/fact.ts";
import { limitNotice } from "../../loop/reached-limit.ts";
import type { ReachedLimit } from "../../loop/state.ts";
import { outputBoundOf } from "./expected-usage.ts";
import type { PreparedModel } from "./prepare-model-call.ts";

/** The fewest tokens that must be left for the answer of a call. */
export const answerTokensMin = 1_024;
/** The same with thinking, which vendors count as a part of the answer. */
const thoughtfulTokensMin = 4_096;
/** The fewest tokens of a last answer: a shorter one would be of no use. */
const lastAnswerTokensMin = 256;

/** The tokens that must be left for the answer of a call with tools. `tokensMax`: a limit of tokens; a quarter suffices, so it allows several calls. */
export function roomMin(prepared: PreparedModel, tokensMax: number | undefined): number {
  const bound = outputBoundOf(prepared);
  if (prepared.request.reasoning) return Math.min(bound, thoughtfulTokensMin);
  return Math.min(bound, answerTokensMin, tokensMax === undefined ? bound : Math.ceil(tokensMax / 4));
}

/** The tokens that must be left for a last answer. */
export const lastRoomMin = (prepared: PreparedModel): number =>
  Math.min(outputBoundOf(prepared), prepared.request.reasoning ? thoughtfulTokensMin : lastAnswerTokensMin);

/** The call with an answer of at most `maxTokens` tokens. */
export const boundedCall = (prepared: PreparedModel, maxTokens: number): PreparedModel => ({
  ...prepared,
  request: { ...prepared.request, maxTokens },
});

/** What the `prepare` hooks add to the log for a call that is not made. */
export function keptOf({
  intent: { verdicts, hookState, expenses },
}: PreparedModel): Pick<BodyOf<"run.finished">, "verdicts" | "hookState" | "expenses"> {
  return { ...(verdicts ? { verdicts } : {}), ...(hookState ? { hookState } : {}), ...(expenses ? { expenses } : {}) };
}

/** The call without tools, and with a notice that names the limit. */
export function lastCall(prepared: PreparedModel, limit: ReachedLimit): PreparedModel {
  const { tools: _, toolChoice: __, parallelToolCalls: ___, ...request } = prepared.request;
  const { intent, messages } = prepared;
  const text = limitNotice(limit);
  return {
    ...prepared,
    request,
    intent: { ...intent, notices: [...(intent.notices ?? []), text] },
    ...(messages ? { messages: [...messages, { role: "notice", text }] } : {}),
  };
}
