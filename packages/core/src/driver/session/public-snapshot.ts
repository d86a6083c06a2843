import { at } from "../../loop/append-list.ts";
import { openChildren, waitingAgent } from "../../loop/children/waits-of-children.ts";
import { type Call, type Entry, type QueuedInput, type Run, type State, sessionStatusOf, tipOf, waitingReasons } from "../../loop/state.ts";
import { present } from "../../message/drop-undefined.ts";
import { cursorAfter, encodeCursor } from "../../protocol/cursor.ts";
import type { OpenRun, PendingChild, RunningTool, SessionSnapshot, SnapshotMessage, WaitingInput } from "../../protocol/snapshot.ts";
import { pendingApprovals, pendingToolCalls } from "./run-stream.ts";

/** The public snapshot of a session. Takes time in proportion to the number of messages. */
export function snapshotOf(state: State, sessionId: string, isReadOnly = false): SessionSnapshot {
  const { agent = "", title, metadata, participants, createdAt = 0, updatedAt = createdAt, run, lastRun } = state;
  const { model, usage, cost, contextTokens, retention, sharing, hold, remembered } = state;
  const reasons = waitingReasons(state);
  const optional = { title, metadata, participants, model, usage, cost, contextTokens, retention, sharing, hold, remembered };
  return {
    sessionId,
    agent,
    status: sessionStatusOf(state),
    ...(reasons.length > 0 ? { waitsFor: reasons } : {}),
    ...(isReadOnly ? { readOnly: true } : {}),
    createdAt,
    updatedAt,
    cursor: encodeCursor(cursorAfter(state.seq)),
    messages: messagesOf(state),
    head: at(state.history, tipOf(state))?.id ?? null,
    waiting: waitingOf(state),
    ...(run ? { run: openRun(state, run) } : {}),
    ...(lastRun ? { lastRun: { runId: lastRun.runId, status: lastRun.status, reason: lastRun.reason, ...failureOf(lastRun) } } : {}),
    ...present(optional),
  };
}

const failureOf = ({ failure }: NonNullable<State["lastRun"]>): Pick<NonNullable<SessionSnapshot["lastRun"]>, "failure"> =>
  failure ? { failure } : {};

function messagesOf({ history }: State): readonly SnapshotMessage[] {
  return Array.from({ length: history.length }, (_, index) => {
    const { id, parent, runId, at: when, message } = at(history, index) as Entry;
    const from = at(history, parent)?.id ?? null;
    return { id, parent: from, ...(runId === undefined ? {} : { runId }), at: when, message };
  });
}

function waitingOf({ run, inputs }: State): readonly WaitingInput[] {
  const steered = (run?.steered ?? []).map((input) => ({ input, mode: "steer" as const, runId: run?.runId ?? input.runId }));
  return [...steered, ...inputs.map((input) => ({ input, mode: modeOf(input), runId: input.runId }))].map(({ input, mode, runId }) => ({
    inputId: input.inputId,
    runId,
    mode,
    ...present({ message: input.message, parent: input.parent }),
  }));
}

const modeOf = ({ jumps, shares }: QueuedInput): WaitingInput["mode"] => (jumps ? "interrupt" : shares ? "merge" : "enqueue");

function openRun(state: State, run: Run): OpenRun {
  const approvals = pendingApprovals(state);
  const children = run.calls.flatMap(pendingChild);
  const below = openChildren(run).filter(({ waits }) => waits);
  const { runId, provider, model, turn, open, abort, retry, limit, movedHead } = run;
  return {
    runId,
    provider,
    model: run.options?.model ?? model,
    turn,
    ...(open ? { answering: open.lane } : {}),
    tools: run.calls.flatMap(runningTool),
    pendingToolCalls: pendingToolCalls(state),
    ...(children.length > 0 ? { pendingChildren: children } : {}),
    ...(approvals.length > 0 ? { pendingApprovals: approvals } : {}),
    ...(below.length > 0 ? { waitingAgents: below.map(waitingAgent) } : {}),
    ...(abort ? { aborting: abort.reason } : {}),
    ...(retry ? { retry: { reason: retry.failure.message, ...(retry.until === undefined ? {} : { until: retry.until }) } } : {}),
    ...(limit ? { limit: { which: limit.which, value: limit.value } } : {}),
    ...(movedHead === undefined ? {} : { movedHead: at(state.history, movedHead)?.id ?? null }),
  };
}

const pendingChild = ({ part: { callKey }, state, child, args }: Call): readonly PendingChild[] =>
  state === "awaiting_child" && child ? [{ callKey, ...child, ...(args ? { args } : {}) }] : [];

function runningTool({ part, state, lane, startedAt, args }: Call): readonly RunningTool[] {
  if (state !== "running" || lane === undefined) return [];
  return [{ toolCallId: part.id, callKey: part.callKey, toolName: part.name, args: args ?? part.args, lane, startedAt: startedAt ?? 0 }];
}
