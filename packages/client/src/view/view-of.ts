import { pathOf, type SessionSnapshot } from "@loopwright/core/protocol";
import { CallMap } from "./call-map.ts";
import { answeredCall, askedCalls, childCall, startedCall, waitingCall } from "./fold-call.ts";
import type { SessionView, ViewAnswer, ViewCall, ViewEnd, ViewRun } from "./session-view.ts";
import { allPending, sortedAgents } from "./waiting-agents.ts";

/** The view of a snapshot. Takes time in proportion to the number of messages. */
export function viewOf(snapshot: SessionSnapshot): SessionView {
  // No event carries the participants, the reason of waiting or the hold of a session, so a view that follows events cannot keep them.
  const { messages: list, run, lastRun, participants: _, waitsFor: __, hold: ___, ...same } = snapshot;
  const messages = new Map(list.map((message) => [message.id, message]));
  const children = new Map<string | null, string[]>();
  for (const { id, parent } of list) {
    const siblings = children.get(parent);
    if (siblings) siblings.push(id);
    else children.set(parent, [id]);
  }
  return {
    ...same,
    messages,
    children,
    path: pathOf({ messages, head: same.head }),
    calls: callsIn(snapshot),
    pendingToolCalls: allPending(run?.pendingToolCalls ?? [], sortedAgents(run?.waitingAgents ?? [])),
    ...(run?.answering === undefined ? {} : { answer: answerOf(snapshot, { lane: run.answering, runId: run.runId }) }),
    ...(run ? { run: runOf(run) } : {}),
    ...(lastRun ? { lastRun: endOf(lastRun) } : {}),
  };
}

/** While a model writes, a session changes by inputs only, so the last change is taken for the start of the answer. */
function answerOf({ head, updatedAt }: SessionSnapshot, { lane, runId }: Pick<ViewAnswer, "lane" | "runId">): ViewAnswer {
  return { lane, n: 0, runId, parent: head, startedAt: updatedAt, parts: [] };
}

/** A run that is being aborted has no `retry`: it is not tried again. */
function runOf({
  answering: _,
  tools: __,
  pendingToolCalls: ___,
  pendingApprovals: ____,
  pendingChildren: _____,
  waitingAgents,
  retry,
  ...plain
}: NonNullable<SessionSnapshot["run"]>): ViewRun {
  const same = waitingAgents ? { ...plain, waitingAgents: sortedAgents(waitingAgents) } : plain;
  return retry && same.aborting === undefined ? { ...same, retry } : same;
}

function endOf({ runId, status, reason, failure }: NonNullable<SessionSnapshot["lastRun"]>): ViewEnd {
  return { runId, status, reason, ...(failure ? { code: failure.code, error: failure.message } : {}) };
}

/** Every call of the open run, those of its last turn apart. */
function callsIn({ run, messages }: SessionSnapshot): CallMap {
  const earlier = new Map<string, ViewCall>();
  const turn = new Map<string, ViewCall>();
  for (const { runId, message } of messages) {
    if (!run || runId !== run.runId) continue;
    if (message.role === "assistant") {
      for (const [callKey, call] of turn) earlier.set(callKey, call);
      turn.clear();
      for (const call of askedCalls(message)) turn.set(call.callKey, call);
    } else if (message.role === "tool_result") change(turn, message.callKey, (call) => answeredCall(call, message));
  }
  for (const { callKey, lane, startedAt, args } of run?.tools ?? [])
    change(turn, callKey, (call) => startedCall(call, { seq: lane, at: startedAt, args }));
  for (const pending of [...(run?.pendingToolCalls ?? []), ...(run?.pendingApprovals ?? [])])
    change(turn, pending.callKey, (call) => waitingCall(call, pending));
  for (const child of run?.pendingChildren ?? []) change(turn, child.callKey, (call) => childCall(call, child));
  return new CallMap(earlier, turn);
}

function change(calls: Map<string, ViewCall>, callKey: string | undefined, by: (call: ViewCall) => ViewCall): void {
  const call = callKey === undefined ? undefined : calls.get(callKey);
  if (call) calls.set(call.callKey, by(call));
}
