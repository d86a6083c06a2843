import type { Fact, FactDraft, FactOf } from "../loop/fact.ts";
import { derivedTitle } from "../message/derived-title.ts";
import { type Message, textOf } from "../message/message.ts";
import { addCost, addUsage } from "../message/usage.ts";
import type { SessionSummary, WaitingReason } from "../ports/session-index.ts";

/** A summary, and what folding the next facts needs. Plain JSON; an adapter may keep it beside the log and throw it away at any time. */
export interface SessionProjection {
  readonly summary: SessionSummary;
  /** The run that has started and not ended. */
  readonly openRun?: string;
  /** Calls that wait for a client or a person. */
  readonly waiting: readonly string[];
  /** The calls of `waiting` that wait for a person's approval. */
  readonly asked?: readonly string[];
  /** By child: the calls below it that wait for a person's approval. */
  readonly below?: { readonly [session: string]: readonly string[] };
  /** The calls of `waiting` that wait for a child. */
  readonly children?: readonly string[];
  /** Model and tool calls under way. */
  readonly working: readonly string[];
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
interface Draft {
  readonly summary: Writable<SessionSummary>;
  openRun: string | undefined;
  readonly waiting: Set<string>;
  readonly asked: Set<string>;
  readonly below: Map<string, readonly string[]>;
  readonly children: Set<string>;
  readonly working: Set<string>;
}

const modelCall = "model";

/** The parent of the session of these facts, if the opening of the session is among them. */
export function parentOf(facts: readonly FactDraft[]): string | undefined {
  return facts.find((fact) => fact.type === "session.opened")?.parent?.session;
}

/**
 * The projection after more facts of the log of `id`, oldest first; `undefined` as `before`: a new session; as the result: no fact. Facts that `before`
 * includes change nothing; facts of unknown types change only position and date.
 */
export function projectSession(id: string, before: SessionProjection | undefined, facts: readonly Fact[]): SessionProjection | undefined {
  const first = facts[0];
  if (!first) return before;
  const draft: Draft = {
    summary: { ...(before?.summary ?? emptySummary(id, first.at)) },
    openRun: before?.openRun,
    waiting: new Set(before?.waiting),
    asked: new Set(before?.asked),
    below: new Map(Object.entries(before?.below ?? {})),
    children: new Set(before?.children),
    working: new Set(before?.working),
  };
  for (const fact of facts) {
    if (fact.seq <= draft.summary.lastSeq) continue;
    draft.summary.lastSeq = fact.seq;
    draft.summary.updatedAt = fact.at;
    applyToSession(draft, fact);
    applyToRun(draft, fact);
  }
  if (draft.summary.status !== "closed") draft.summary.status = statusOf(draft);
  delete draft.summary.waitsFor;
  if (draft.summary.status === "waiting") draft.summary.waitsFor = reasonsOf(draft);
  delete draft.summary.pendingApprovals;
  const pending = [...draft.below.values()].reduce((sum, calls) => sum + calls.length, draft.asked.size);
  if (pending > 0) draft.summary.pendingApprovals = pending;
  return {
    summary: draft.summary,
    ...(draft.openRun === undefined ? {} : { openRun: draft.openRun }),
    waiting: [...draft.waiting],
    ...(draft.asked.size > 0 ? { asked: [...draft.asked] } : {}),
    ...(draft.below.size > 0 ? { below: Object.fromEntries(draft.below) } : {}),
    ...(draft.children.size > 0 ? { children: [...draft.children] } : {}),
    working: [...draft.working],
  };
}

function emptySummary(id: string, at: number): SessionSummary {
  return { id, agent: "", status: "idle", createdAt: at, updatedAt: at, lastSeq: 0, messageCount: 0 };
}

function statusOf({ openRun, waiting, working }: Draft): SessionSummary["status"] {
  if (openRun === undefined) return "idle";
  return waiting.size > 0 && working.size === 0 ? "waiting" : "running";
}

function reasonsOf({ waiting, asked, children }: Draft): readonly WaitingReason[] {
  const reasons: WaitingReason[] = asked.size + children.size < waiting.size ? ["client_tools"] : [];
  if (asked.size > 0) reasons.push("approvals");
  if (children.size > 0) reasons.push("children");
  return reasons;
}

/** Updates names, messages and sums of the session. */
function applyToSession({ summary }: Draft, fact: Fact): void {
  switch (fact.type) {
    case "session.opened":
      summary.agent = fact.agent;
      if (fact.parent) summary.parent = fact.parent.session;
      if (fact.participants) summary.participants = fact.participants;
      nameSession(summary, fact);
      for (const message of fact.context ?? []) countMessage(summary, message);
      return;
    case "session.changed":
      nameSession(summary, fact);
      if (fact.sharing) summary.sharing = fact.sharing;
      return;
    case "session.closed":
      summary.status = "closed";
      return;
    case "input.accepted":
      if (fact.message) countMessage(summary, fact.message);
      return;
    case "model.finished":
      countMessage(summary, fact.message);
      addSpending(summary, fact);
      return;
    case "model.failed":
    case "tool.finished":
    case "child.finished":
    case "context.compacted":
    case "summary.failed":
      addSpending(summary, fact);
      return;
    case "run.finished":
      summary.lastRun = { status: fact.status, reason: fact.reason };
      return;
  }
}

/** Updates what is open, for the status. */
function applyToRun(draft: Draft, fact: Fact): void {
  const { waiting, asked, children, working } = draft;
  switch (fact.type) {
    case "run.started":
      draft.openRun = fact.runId;
      return;
    case "model.started":
      working.add(modelCall);
      return;
    case "model.finished":
    case "model.failed":
      working.delete(modelCall);
      return;
    case "tool.started":
      working.add(fact.callKey);
      return;
    case "client.requested":
      for (const callKey of fact.callKeys ?? []) waiting.add(callKey);
      return;
    case "approval.requested":
      waiting.add(fact.callKey);
      asked.add(fact.callKey);
      return;
    case "child.linked":
    case "child.waiting":
    case "child.finished":
      applyBelow(draft, fact);
      if (fact.callKey !== undefined) applyToChild(draft, fact.callKey, fact);
      return;
    case "client.answered":
    case "approval.decided":
      applyAnswer(draft, fact);
      return;
    case "tool.finished":
      endCall(draft, fact.callKey);
      return;
    case "run.finished":
      draft.openRun = undefined;
      waiting.clear();
      asked.clear();
      draft.below.clear();
      children.clear();
      working.clear();
      return;
  }
}

function applyAnswer(draft: Draft, { callKey, child }: FactOf<"client.answered" | "approval.decided">): void {
  draft.waiting.delete(child?.callKey ?? callKey);
  draft.asked.delete(callKey);
  draft.children.delete(child?.callKey ?? "");
  if (!child) return;
  const left = (draft.below.get(child.session) ?? []).filter((key) => key !== callKey);
  keepBelow(draft, child.session, left);
}

function applyBelow(draft: Draft, fact: FactOf<"child.linked" | "child.waiting" | "child.finished">): void {
  if (fact.type === "child.linked") return;
  const waits = fact.type === "child.waiting" ? (fact.waits ?? []) : [];
  keepBelow(
    draft,
    fact.session,
    waits.flatMap(({ callKey, argsDigest }) => (argsDigest === undefined ? [] : [callKey])),
  );
}

function keepBelow({ below }: Draft, session: string, callKeys: readonly string[]): void {
  if (callKeys.length > 0) below.set(session, callKeys);
  else below.delete(session);
}

/** A call waits for a child that it has started, or for a child that rests. When the child no longer rests, the tool of the call runs again. */
function applyToChild(draft: Draft, callKey: string, fact: FactOf<"child.linked" | "child.waiting" | "child.finished">): void {
  const { waiting, children } = draft;
  if (fact.type === "child.finished") {
    if (children.has(callKey)) endCall(draft, callKey);
  } else if (fact.type === "child.linked" ? fact.key === undefined : fact.rests) waitForChild(draft, callKey);
  else if (children.delete(callKey)) waiting.delete(callKey);
}

function waitForChild({ waiting, children, working }: Draft, callKey: string): void {
  working.delete(callKey);
  waiting.add(callKey);
  children.add(callKey);
}

function endCall({ waiting, asked, children, working }: Draft, callKey: string): void {
  for (const calls of [waiting, asked, children, working]) calls.delete(callKey);
}

function nameSession(summary: Writable<SessionSummary>, { title, metadata }: Pick<SessionSummary, "title" | "metadata">): void {
  if (typeof title === "string") summary.title = title;
  if (metadata) summary.metadata = metadata;
}

function countMessage(summary: Writable<SessionSummary>, message: Message): void {
  if (message?.role !== "user" && message?.role !== "assistant") return;
  summary.messageCount++;
  if (message.role !== "user" || summary.title !== undefined) return;
  const title = derivedTitle(textOf(message));
  if (title !== "") summary.title = title;
}

function addSpending(summary: Writable<SessionSummary>, { usage, cost }: Pick<SessionSummary, "usage" | "cost">): void {
  const usageSum = addUsage(summary.usage, usage);
  const costSum = addCost(summary.cost, cost);
  if (usageSum) summary.usage = usageSum;
  if (costSum) summary.cost = costSum;
}
