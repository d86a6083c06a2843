import type { PendingToolCall, WaitingAgent } from "@loopwright/core/protocol";
import { callIndex } from "./path.ts";
import type { ViewDraft } from "./view-draft.ts";

/** Those that wait for something, by session. */
export const sortedAgents = (agents: readonly WaitingAgent[]): readonly WaitingAgent[] =>
  agents
    .filter(({ pendingApprovals, pendingToolCalls }) => pendingApprovals.length + pendingToolCalls.length > 0)
    .sort((a, b) => (a.session < b.session ? -1 : 1));

/** The session's own calls that wait, in call order, then those of its children. */
export function allPending(calls: readonly PendingToolCall[], agents: readonly WaitingAgent[]): readonly PendingToolCall[] {
  const own = calls.filter(({ session }) => session === undefined).sort((a, b) => callIndex(a.callKey) - callIndex(b.callKey));
  return [...own, ...agents.flatMap(({ pendingToolCalls }) => pendingToolCalls)];
}

/** What a child waits for has changed; without `next` it has ended. */
export function changeAgent({ view }: ViewDraft, session: string, next?: WaitingAgent): void {
  const { run } = view;
  if (!run || (!next && !run.waitingAgents)) return;
  const { waitingAgents = [], ...rest } = run;
  const agents = sortedAgents([...waitingAgents.filter((agent) => agent.session !== session), ...(next ? [next] : [])]);
  view.run = agents.length > 0 ? { ...rest, waitingAgents: agents } : rest;
  view.pendingToolCalls = allPending(view.pendingToolCalls, agents);
}
