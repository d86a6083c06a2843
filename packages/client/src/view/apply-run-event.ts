import { addSpent, contextTokensOf, type DurableEvent, type WaitingInput } from "@loopwright/core/protocol";
import { answeredCall, askedCalls } from "./fold-call.ts";
import type { ViewVerdict } from "./session-view.ts";
import type { ViewDraft } from "./view-draft.ts";
import { inTurn } from "./waiting-order.ts";

type EventOf<Type> = Extract<DurableEvent, { readonly type: Type }>;

/** How a run goes: its turns, attempts and messages. Other events change nothing. */
export function applyRunEvent(draft: ViewDraft, event: DurableEvent): void {
  const { view } = draft;
  switch (event.type) {
    case "run_start":
      startRun(draft, event);
      return;
    case "turn_start":
      draft.changeRun({ turn: event.turn });
      return;
    case "message_start":
      if (event.role === "assistant") startAnswer(draft, event);
      return;
    case "message_end":
      endMessage(draft, event);
      return;
    case "attempt_discarded":
      delete view.answer;
      Object.assign(view, addSpent(view, event));
      // What takes the place of a withdrawn answer follows: that is no failure.
      if (view.run?.aborting !== undefined || (event.code === "ANSWER_WITHDRAWN" && !event.willRetry)) return;
      draft.changeRun(event.willRetry ? { retry: { reason: event.reason } } : { failure: { code: event.code, error: event.reason } });
      return;
    case "retry_scheduled":
      if (view.run?.retry) draft.changeRun({ retry: { ...view.run.retry, until: event.until } });
      return;
    case "aborting":
      forgetRetry(draft);
      draft.changeRun({ aborting: event.reason });
      return;
    case "verdict":
      draft.addVerdict(verdictOf(event));
      return;
    case "limit_reached":
      draft.changeRun({ limit: { which: event.which, value: event.value } });
      return;
    case "error":
      if (event.reason === "error") draft.changeRun({ failure: { code: event.code, error: event.error } });
      return;
    case "run_end":
      endRun(draft, event);
      return;
    default:
      return;
  }
}

function verdictOf({ hook, point, action, reason, callKey, runId = "" }: EventOf<"verdict">): ViewVerdict {
  const more = { ...(reason === undefined ? {} : { reason }), ...(callKey === undefined ? {} : { callKey }) };
  return { hook, point, action, runId, ...more };
}

function startRun(draft: ViewDraft, { runId = "", provider, model }: EventOf<"run_start">): void {
  const { view } = draft;
  const isOfRun = (input: WaitingInput): boolean => input.mode !== "steer" && input.runId === runId;
  const parent = view.waiting.find(isOfRun)?.parent;
  view.waiting = view.waiting.filter((input) => !isOfRun(input));
  view.run = { runId, provider, model, turn: 0 };
  if (parent === null || (parent !== undefined && view.messages.has(parent))) draft.moveHead(parent);
}

function startAnswer(draft: ViewDraft, { seq, at, runId = "" }: EventOf<"message_start">): void {
  const { view } = draft;
  forgetRetry(draft);
  forgetFailure(draft);
  view.answer = { lane: seq, n: 0, runId, parent: view.head, startedAt: at, parts: [] };
  if (view.run) view.model = view.run.model;
}

function endMessage(draft: ViewDraft, event: EventOf<"message_end">): void {
  const { view } = draft;
  const { messageId: id, parent, runId, at, message, timings } = event;
  // The verdicts on a call are those of the call.
  const verdicts = message.role === "tool_result" ? [] : draft.takeVerdicts(runId);
  draft.addMessage({
    ...{ id, parent, at, message },
    ...(runId === undefined ? {} : { runId }),
    ...(timings ? { timings } : {}),
    ...(verdicts.length > 0 ? { verdicts } : {}),
  });
  if (message.role === "assistant") {
    delete view.answer;
    Object.assign(view, addSpent(view, event));
    const contextTokens = contextTokensOf(event.usage);
    if (contextTokens !== undefined) view.contextTokens = contextTokens;
    draft.beginTurn(askedCalls(message));
  } else if (message.role === "tool_result") {
    const { callKey } = message;
    if (callKey === undefined) return;
    draft.changeCall(callKey, (call) => answeredCall(call, message));
    view.pendingToolCalls = view.pendingToolCalls.filter((call) => call.callKey !== callKey);
  } else if (message.role === "user" && (view.run?.turn ?? 0) > 0) {
    // Later than the run's own message: a steered input joins, the oldest first.
    const place = view.waiting.findIndex((input) => input.mode === "steer");
    if (place >= 0) view.waiting = view.waiting.toSpliced(place, 1);
  }
}

function endRun(draft: ViewDraft, { runId = "", status, reason }: EventOf<"run_end">): void {
  const { view } = draft;
  const { movedHead, failure } = view.run ?? {};
  view.lastRun = { runId, status, reason, ...(status === "failed" ? failure : {}) };
  draft.giveVerdictsToHead(runId);
  // Those that did not join get runs of their own.
  if (view.waiting.some((input) => input.mode === "steer"))
    view.waiting = inTurn(
      view.waiting.map((input) => (input.mode === "steer" ? { ...input, mode: "enqueue", runId: input.inputId } : input)),
    );
  view.pendingToolCalls = [];
  delete view.run;
  delete view.answer;
  if (movedHead !== undefined) draft.moveHead(movedHead);
}

/** An answer that was withdrawn may be followed by the one that takes its place. */
function forgetFailure({ view }: ViewDraft): void {
  if (!view.run?.failure) return;
  const { failure: _, ...run } = view.run;
  view.run = run;
}

function forgetRetry({ view }: ViewDraft): void {
  if (!view.run?.retry) return;
  const { retry: _, ...run } = view.run;
  view.run = run;
}
