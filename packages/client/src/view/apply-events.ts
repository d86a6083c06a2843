/*
 * Owns: the client rule of the event stream. A durable event is applied if its cursor is greater than the last one; an ephemeral one if
 * its lane is open and its number is the lane's last + 1; a snapshot replaces the content of its lane, unless the view is ahead of it.
 * Does not own: what a screen makes of the view.
 * Invariants
 *  V1 pure: the view given in keeps its value; what does not change stays the same object;
 *  V2 a delta changes `answer` or one call, at a cost that does not depend on the length of the session;
 *  V3 events that were applied before, or are of unknown types, change nothing.
 */
import { compareCursors, decodeCursor, type EphemeralEvent, encodeCursor, type SessionEvent } from "@loopwright/core/protocol";
import { applyCallEvent } from "./apply-call-event.ts";
import { applyRunEvent } from "./apply-run-event.ts";
import { applySessionEvent } from "./apply-session-event.ts";
import { foldAnswer } from "./fold-answer.ts";
import { foldCall } from "./fold-call.ts";
import type { SessionView } from "./session-view.ts";
import { layersOf, ViewDraft } from "./view-draft.ts";

/** The view after more events of its session, in the order they came. The same object when none of them changes it. */
export function applyEvents(view: SessionView, events: readonly SessionEvent[]): SessionView {
  const draft = new ViewDraft(view);
  const from = decodeCursor(view.cursor) ?? { seq: 0, k: 0 };
  let last = from;
  for (const event of events) {
    if (!("seq" in event)) applyEphemeral(draft, event);
    else if (compareCursors(event, last) > 0) {
      last = event;
      draft.view.updatedAt = event.at;
      applySessionEvent(draft, event);
      applyRunEvent(draft, event);
      applyCallEvent(draft, event);
    }
  }
  const next = draft.view;
  if (last === from) return next.answer === view.answer && next.calls === view.calls ? view : next;
  next.cursor = encodeCursor(last);
  next.status = statusOf(next);
  return next;
}

function applyEphemeral(draft: ViewDraft, event: EphemeralEvent): void {
  const { answer } = draft.view;
  if (answer?.lane === event.lane) draft.view.answer = foldAnswer(answer, event);
  else if ("callKey" in event) draft.changeCall(event.callKey, (call) => foldCall(call, event));
}

/** The same status that core derives from the log: `waiting` when every open call waits for a person, a client or a child. */
function statusOf({ status, run, waiting, answer, calls }: SessionView): SessionView["status"] {
  if (status === "closed") return status;
  if (!run) return waiting.length > 0 ? "running" : "idle";
  if (answer || run.aborting !== undefined) return "running";
  const open = [...layersOf(calls).turn.values()].filter(({ state }) => state !== "done");
  return open.length > 0 && open.every(({ state }) => state.startsWith("awaiting_")) ? "waiting" : "running";
}
