import { addSpent, type DurableEvent } from "@loopwright/core/protocol";
import { childCall, endedCall, startedCall, waitingCall } from "./fold-call.ts";
import type { ViewDraft } from "./view-draft.ts";
import { allPending, changeAgent } from "./waiting-agents.ts";

/** Applies events of the calls of the open turn, and usage outside model calls. Other events change nothing. */
export function applyCallEvent(draft: ViewDraft, event: DurableEvent): void {
  const { view } = draft;
  switch (event.type) {
    case "tool_execution_start":
      draft.changeCall(event.callKey, (call) => startedCall(call, event));
      return;
    case "tool_execution_end":
      draft.changeCall(event.callKey, (call) => endedCall(call, event));
      Object.assign(view, addSpent(view, event));
      return;
    case "awaiting_tool_execution":
      for (const asked of event.toolCalls) draft.changeCall(asked.callKey, (call) => waitingCall(call, asked));
      view.pendingToolCalls = allPending([...view.pendingToolCalls, ...event.toolCalls], view.run?.waitingAgents ?? []);
      return;
    case "approval_requested":
      draft.changeCall(event.callKey, (call) => waitingCall(call, event));
      return;
    case "approval_decided":
      draft.changeCall(event.callKey, ({ deadline: _, approval: __, ...call }) => ({ ...call, state: "pending" }));
      return;
    case "agent_waiting": {
      const { callKey, session, agent, pendingApprovals, pendingToolCalls } = event;
      changeAgent(draft, session, { ...(callKey === undefined ? {} : { callKey }), session, agent, pendingApprovals, pendingToolCalls });
      return;
    }
    case "agent_end":
      changeAgent(draft, event.session);
      Object.assign(view, addSpent(view, event));
      return;
    case "context_compacted":
    case "expense":
      Object.assign(view, addSpent(view, event));
      return;
    case "agent_start":
      if (event.callKey !== undefined && event.awaited) draft.changeCall(event.callKey, (call) => childCall(call, event));
      return;
    default:
      return;
  }
}
