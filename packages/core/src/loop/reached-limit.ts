/*
 * Owns: when a run has reached one of its limits, the facts that record it, and the notice that the model gets before its last answer.
 * Does not own: whether the next call fits into what is left (driver/model/check-run-budget).
 */
import type { Failure } from "../errors.ts";
import { chargedTo } from "./children/background-children.ts";
import type { FactBody } from "./fact.ts";
import type { ReachedLimit, Run } from "./state.ts";

/**
 * The limit that applies to the next turn. Of turns, at the last allowed turn (`finalize`) or the turn after it; of tool calls, tokens, money and time, at
 * the turn after the limit was used up. `now`: the date of the last fact.
 */
export function limitOf(run: Run, now: number): ReachedLimit | undefined {
  const { turnsMax, toolCallsMax, onLimit } = run.limits;
  const next = run.turn + 1;
  const hasTools = Object.keys(run.tools).length > 0;
  const isLastTurn = onLimit === "finalize" ? next === turnsMax && (next > 1 || hasTools) : next > turnsMax;
  if (isLastTurn || next > turnsMax) return { which: "turns", value: turnsMax };
  if (toolCallsMax > 0 && run.toolCallCount >= toolCallsMax) return { which: "toolCalls", value: toolCallsMax };
  return spentLimit(run) ?? timeLimit(run, now);
}

/** The limit of tokens or money that the run has used up: its own, or that of its budget. */
function spentLimit(run: Run): ReachedLimit | undefined {
  const { limits, budget } = run;
  const { tokens, costUsd } = chargedTo(run);
  const tokensMax = least(limits.tokensMax, budget?.tokensMax);
  if (tokensMax > 0 && tokens >= tokensMax) return { which: "tokens", value: tokensMax };
  const costUsdMax = least(limits.costUsdMax, budget?.costUsdMax);
  return costUsdMax > 0 && costUsd >= costUsdMax ? { which: "costUsd", value: costUsdMax } : undefined;
}

/** The smaller of two limits; 0: there is none. */
export const least = (own: number, given = 0): number => (own > 0 && given > 0 ? Math.min(own, given) : Math.max(own, given));

/** The limit of time, if the run has used it up. */
export function timeLimit(run: Run, now: number): ReachedLimit | undefined {
  return (timeLeft(run, now) ?? 1) <= 0 ? { which: "durationMs", value: run.limits.durationMs } : undefined;
}

/** Milliseconds until the limit of time; `undefined`: there is none. Never more than the limit, even if the clock goes back. */
export function timeLeft({ limits: { durationMs }, startedAt, restedMs = 0 }: Run, now: number): number | undefined {
  return durationMs > 0 ? durationMs - Math.max(0, now - startedAt - restedMs) : undefined;
}

/** The limit, and the end of the run if no last answer follows. */
export function limitFacts(run: Run, limit: ReachedLimit): readonly FactBody[] {
  const reached: FactBody = { type: "limit.reached", runId: run.runId, ...limit };
  const mayAnswer = run.limits.onLimit === "finalize" || run.decision?.action === "continue";
  // An attempt that is made again belongs to the current turn.
  if (mayAnswer && (run.retry ? run.turn - 1 : run.turn) < run.limits.turnsMax) return [reached];
  if (run.limits.onLimit !== "error") return [reached, { type: "run.finished", runId: run.runId, status: "completed", reason: "limit" }];
  const failure: Failure = {
    code: "LIMIT_REACHED",
    message: `The run reached its limit of ${shownLimit(limit)}.`,
    retryable: false,
  };
  return [reached, { type: "run.finished", runId: run.runId, status: "failed", reason: "LIMIT_REACHED", failure }];
}

const namesOf: { readonly [which: string]: string } = {
  turns: "turns",
  toolCalls: "tool calls",
  tokens: "tokens",
  costUsd: "US dollars",
  durationMs: "milliseconds",
};

const shownLimit = ({ which, value }: ReachedLimit): string => `${value} ${Object.hasOwn(namesOf, which) ? namesOf[which] : which}`;

/** What the model reads before its last answer. */
export const limitNotice = (limit: ReachedLimit): string =>
  `You have reached the limit of ${shownLimit(limit)} for this request. Answer now with what you have; no further tools are available.`;
