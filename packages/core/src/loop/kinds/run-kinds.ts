import { present } from "../../message/drop-undefined.ts";
import type { Message, MessageId } from "../../message/message.ts";
import { at } from "../append-list.ts";
import type { DurableBody } from "../event.ts";
import type { FactOf } from "../fact.ts";
import { acceptsInput, foldInput } from "../fold-inputs.ts";
import {
  answerIdOf,
  answersAlone,
  endsAttempt,
  endsRun,
  foldAbort,
  foldLimit,
  foldModelFailed,
  foldModelFinished,
  foldModelStarted,
  foldRunFinished,
  foldRunStarted,
  foldWait,
  inputsOf,
  startOf,
  startsModel,
  startsRun,
  stops,
  waits,
} from "../fold-turns.ts";
import { mayRetry } from "../retry/may-call-model-again.ts";
import type { Run } from "../state.ts";
import type { FactKind } from "./fact-kind.ts";
import { ofMessage, tipId } from "./message-events.ts";

export const inputAccepted: FactKind<"input.accepted"> = {
  fits: acceptsInput,
  fold: foldInput,
  publish: (_, { inputId, mode, message, parent }) => [{ type: "input_accepted", inputId, mode, ...present({ message, parent }) }],
};

export const runStarted: FactKind<"run.started"> = {
  fits: startsRun,
  fold: foldRunStarted,
  publish(before, { runId, model, provider }) {
    const input = before.inputs[0];
    const start: DurableBody = { type: "run_start", model, provider };
    if (!input) return [start];
    let parent = at(before.history, startOf(before, input))?.id ?? null;
    const messages = inputsOf(before, runId).flatMap(({ seq, message }) => {
      if (!message) return [];
      const events = ofMessage(String(seq), parent, message);
      parent = String(seq);
      return events;
    });
    return [start, ...messages];
  },
};

export const modelStarted: FactKind<"model.started"> = {
  fits: startsModel,
  fold: foldModelStarted,
  publish(before, fact) {
    let tip = tipId(before);
    const next = (id: MessageId, message: Message): readonly DurableBody[] => {
      const events = ofMessage(id, tip, message);
      tip = id;
      return events;
    };
    const joined = (before.run?.steered ?? []).flatMap((input) => (input.message ? next(String(input.seq), input.message) : []));
    const noticed = (fact.notices ?? []).flatMap((text, i) => next(`${fact.seq}.${i}`, { role: "notice", text }));
    const start: readonly DurableBody[] = fact.attempt === 1 ? [{ type: "turn_start", turn: fact.turn }] : [];
    return [...start, ...joined, ...noticed, answerStart(before.run, fact)];
  },
};

function answerStart(run: Run | undefined, { attempt, seq, namedAtEnd }: FactOf<"model.started">): DurableBody {
  if (namedAtEnd) return { type: "message_start", role: "assistant" };
  return { type: "message_start", messageId: attempt === 1 ? String(seq) : (run?.answerId ?? String(seq)), role: "assistant" };
}

export const modelFinished: FactKind<"model.finished"> = {
  fits: (before, fact) => endsAttempt(before, fact) || answersAlone(before, fact),
  fold: foldModelFinished,
  publish(before, fact) {
    const { usage, cost, message, timings, turn } = fact;
    const messageId = answerIdOf(before, fact);
    const end: DurableBody = {
      type: "message_end",
      messageId,
      parent: tipId(before),
      message,
      ...present({ usage, cost }),
      timings,
    };
    const began: DurableBody = { type: "message_start", messageId, role: "assistant" };
    const start: readonly DurableBody[] =
      fact.attempt === 0 ? [{ type: "turn_start", turn }, began] : isReplaced(fact) ? [withdrawn(fact), began] : [];
    const over: readonly DurableBody[] = message.content.some((part) => part.type === "tool_call") ? [] : [{ type: "turn_end", turn }];
    return [...start, end, ...over];
  },
};

/** True if a hook replaced the answer that was streamed. */
const isReplaced = ({ verdicts = [] }: FactOf<"model.finished">): boolean =>
  verdicts.some(({ point, action }) => point === "decide" && action === "replace");

/** Withdraws the streamed text of an answer that a hook replaced. */
function withdrawn({ turn, attempt }: FactOf<"model.finished">): DurableBody {
  const reason = "The application replaced the answer.";
  return { type: "attempt_discarded", turn, attempt, code: "ANSWER_WITHDRAWN", reason, willRetry: false };
}

export const modelFailed: FactKind<"model.failed"> = {
  fits: endsAttempt,
  fold: foldModelFailed,
  publish: ({ run }, fact) => (run ? [discarded(run, fact)] : []),
};

function discarded(run: Run, fact: FactOf<"model.failed">): DurableBody {
  const { turn, attempt, failure } = fact;
  return {
    type: "attempt_discarded",
    turn,
    attempt,
    code: failure.code,
    reason: failure.message,
    willRetry: mayRetry(run, fact) && !run.abort,
    ...present({ usage: fact.usage, cost: fact.cost }),
  };
}

export const waitScheduled: FactKind<"wait.scheduled"> = {
  fits: waits,
  fold: foldWait,
  publish: (_, { turn, until, reason }) => [{ type: "retry_scheduled", turn, until, reason }],
};

export const abortRequested: FactKind<"abort.requested"> = {
  fits: stops,
  fold: foldAbort,
  publish: ({ run }, { runId, reason }) => (run?.runId === runId ? [{ type: "aborting", reason }] : []),
};

export const limitReached: FactKind<"limit.reached"> = {
  fits: ({ run }, { runId }) => run?.runId === runId && !run.limit,
  fold: foldLimit,
  publish: (_, { which, value }) => [{ type: "limit_reached", which, value }],
};

export const runFinished: FactKind<"run.finished"> = {
  fits: endsRun,
  fold: foldRunFinished,
  publish: ({ run }, fact) => (run ? ofRunEnd(run, fact) : []),
};

function ofRunEnd(run: Run, { status, reason, failure }: FactOf<"run.finished">): readonly DurableBody[] {
  const end: DurableBody = {
    type: "run_end",
    status,
    reason,
    ...present({ usage: run.usage, cost: run.cost }),
  };
  if (status === "completed") return [end];
  const aborted = { type: "error", reason: "aborted", code: "RUN_ABORTED", error: `The run was stopped: ${reason}.` } as const;
  const failed = {
    type: "error",
    reason: "error",
    code: failure?.code ?? "INTERNAL",
    error: failure?.message ?? "The run failed.",
  } as const;
  return [status === "aborted" ? aborted : failed, end];
}
