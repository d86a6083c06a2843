import type { DurableEvent, WaitingInput } from "@loopwright/core/protocol";
import { endedCall } from "./fold-call.ts";
import type { ViewRun } from "./session-view.ts";
import { layersOf, type ViewDraft } from "./view-draft.ts";
import { inTurn } from "./waiting-order.ts";

/** What happens to a session as a whole. Other events change nothing. */
export function applySessionEvent(draft: ViewDraft, event: DurableEvent): void {
  const { view } = draft;
  switch (event.type) {
    case "session_changed":
      if (event.title !== undefined) view.title = event.title;
      if (event.metadata) view.metadata = event.metadata;
      return;
    case "head_moved":
      if (view.run) draft.changeRun({ movedHead: event.to });
      else draft.moveHead(event.to);
      return;
    case "input_accepted":
      view.waiting = withInput(view.waiting, event, view.run);
      return;
    case "session_closed":
      close(draft);
      return;
    default:
      return;
  }
}

/** A steered input joins the open run, a merged one the run of an input that waits; one that came too late waits for a run of its own. */
function withInput(
  waiting: readonly WaitingInput[],
  event: Extract<DurableEvent, { readonly type: "input_accepted" }>,
  run: ViewRun | undefined,
): readonly WaitingInput[] {
  const { inputId, mode, message, parent, runId = inputId } = event;
  const joins = mode === "steer" && message !== undefined && run?.runId === runId && run.aborting === undefined && !run.failure;
  const shares = mode === "merge" && message !== undefined && waiting.some((input) => input.runId === runId);
  const input: WaitingInput = {
    inputId,
    runId: (mode === "steer" && !joins) || (mode === "merge" && !shares) ? inputId : runId,
    mode: joins ? "steer" : shares ? "merge" : mode === "interrupt" ? mode : "enqueue",
    ...(message?.role === "user" ? { message } : {}),
    ...(parent === undefined ? {} : { parent }),
  };
  return inTurn([...waiting, input]);
}

/** Ends an open run where it stands. */
function close(draft: ViewDraft): void {
  const { view } = draft;
  view.status = "closed";
  view.waiting = [];
  view.pendingToolCalls = [];
  if (view.run) view.lastRun = { runId: view.run.runId, status: "aborted", reason: "session closed" };
  delete view.run;
  delete view.answer;
  for (const { callKey, state } of layersOf(view.calls).turn.values())
    if (state !== "done") draft.changeCall(callKey, (call) => endedCall(call, { outcome: "aborted", output: [] }));
}
