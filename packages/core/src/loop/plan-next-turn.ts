import type { Failure } from "../errors.ts";
import type { Effect, Plan } from "./effect.ts";
import type { BodyOf, FactBody } from "./fact.ts";
import { limitFacts, limitNotice, limitOf, timeLimit } from "./reached-limit.ts";
import type { OpenCall, Run } from "./state.ts";

/** The closing fact of an attempt whose process died. */
export function crashed(runId: string, open: OpenCall): BodyOf<"model.failed"> {
  const failure: Failure = {
    code: "CRASHED",
    message: "The process that made this attempt ended before the answer was complete.",
    retryable: true,
  };
  // The vendor may have charged for the whole call.
  return { type: "model.failed", runId, turn: open.turn, attempt: open.attempt, failure, ...open.expected };
}

/** Closes a model call with an unknown outcome, or waits for a running call. */
export function planOpenCall(run: Run, open: OpenCall): Plan {
  return { facts: open.inDoubt ? [crashed(run.runId, open)] : [], effects: [] };
}

/** Ends a run that cannot continue; steered inputs get their own runs. `now`: the date of the last fact. */
export function planFailure(run: Run, failure: Failure, now: number): Plan {
  const limit = failure.code === "LIMIT_REACHED" && !run.limit ? timeLimit(run, now) : undefined;
  if (limit) return { facts: limitFacts(run, limit), effects: [] };
  return { facts: [{ type: "run.finished", runId: run.runId, status: "failed", reason: failure.code, failure }], effects: [] };
}

/** The next step when every call has its result: another attempt, another turn, or the end. */
export function planNextTurn(run: Run, now: number): Plan {
  if (run.turn === 0 && run.answer !== undefined) return { facts: [answerOfHook(run, run.answer)], effects: [] };
  if (run.retry) return planRetry(run, run.retry);
  if (!wantsTurn(run)) return { facts: endFacts(run, now), effects: [] };
  if (run.limit)
    return run.turn > run.limit.turn ? { facts: [completed(run)], effects: [] } : { facts: [], effects: [callModel(run, run.turn + 1, 1)] };
  const limit = limitOf(run, now);
  if (limit) return { facts: limitFacts(run, limit), effects: [] };
  return { facts: [], effects: [callModel(run, run.turn + 1, 1)] };
}

function planRetry(run: Run, retry: NonNullable<Run["retry"]>): Plan {
  const { runId, turn, attempt } = run;
  if (retry.until === undefined && !followsAtOnce.has(retry.failure.code)) {
    return {
      facts: [],
      effects: [{ type: "schedule-retry", id: `${runId}.${turn}#${attempt}/wait`, runId, turn, attempt, failure: retry.failure }],
    };
  }
  const call = callModel(run, turn, attempt + 1);
  return { facts: [], effects: [retry.until === undefined ? call : { ...call, notBefore: retry.until }] };
}

/** The failures of attempts that are made again without a wait. */
const followsAtOnce: ReadonlySet<string> = new Set(["CRASHED", "HANDED_OVER", "LIMIT_REACHED"]);

/** The end of a run that needs no further turn. If the time limit cut off the last answer, the facts name that limit first. */
function endFacts(run: Run, now: number): readonly FactBody[] {
  const limit = run.stopReason === "length" && !run.limit ? timeLimit(run, now) : undefined;
  return limit ? limitFacts(run, limit) : [completed(run)];
}

/** The answer that a hook gave, as a fact. */
function answerOfHook({ runId }: Run, text: string): FactBody {
  const message = { role: "assistant", content: [{ type: "text", text }], stopReason: "stop" } as const;
  return { type: "model.finished", runId, turn: 1, attempt: 0, message, stopReason: "stop", calls: [], timings: { totalMs: 0 } };
}

/**
 * True if another turn follows: it is the first one, there are results for the model, an input arrived meanwhile, or a decision requires it.
 * `stop` and `finish` end the run, whatever the calls returned.
 */
function wantsTurn(run: Run): boolean {
  if (run.turn === 0 || run.steered.length > 0) return true;
  if (run.decision?.action === "stop" || run.decision?.action === "finish") return false;
  return !run.answered || run.decision !== undefined;
}

function callModel(run: Run, turn: number, attempt: number): Extract<Effect, { type: "call-model" }> {
  const { runId, decision, limit } = run;
  const notices: string[] = [];
  if (decision?.action === "nudge") notices.push(decision.notice);
  if (limit && attempt === 1) notices.push(limitNotice(limit));
  const force = decision?.action === "force" && !limit ? { force: decision.tool } : {};
  return {
    type: "call-model",
    id: `${runId}.${turn}#${attempt}`,
    runId,
    turn,
    attempt,
    withTools: !limit,
    notices: attempt === 1 ? notices : [],
    ...force,
  };
}

function completed(run: Run): FactBody {
  const { decision } = run;
  const wanted = decision?.action === "stop" || decision?.action === "finish" ? decision.reason : undefined;
  const reason = wanted ?? (run.limit ? "limit" : run.stopReason === "length" ? "length" : "answer");
  return { type: "run.finished", runId: run.runId, status: "completed", reason };
}
