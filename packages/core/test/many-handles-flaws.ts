import { findEventViolation } from "@loopwright/testing";
import type { AgentEvent, Fact, SessionEvent } from "../src/index.ts";
import { at } from "../src/loop/append-list.ts";
import { eventsOf } from "../src/loop/events-of.ts";
import { fold, foldAll } from "../src/loop/fold.ts";
import { emptyState, endOf } from "../src/loop/state.ts";
import type { Outcome } from "./many-handles-outcome.ts";

interface Published {
  readonly seq: number;
  readonly k: number;
  readonly runId?: string;
}

/** Every durable event of the log, in order. */
function publishedBy(facts: readonly Fact[]): readonly Published[] {
  let state = emptyState;
  return facts.flatMap((fact) => {
    const runId = "runId" in fact ? { runId: fact.runId } : {};
    const events = eventsOf(state, fact).map((body, k) => ({ ...body, seq: fact.seq, k, at: fact.at, sessionId: "s", ...runId }));
    state = fold(state, fact);
    return events;
  });
}

const durable = (events: readonly (AgentEvent | SessionEvent)[]): readonly Published[] => events.filter((event) => "seq" in event);

/** The events are those of the log from the first to the last of them, without gap, double or change. */
function isStretchOf(events: readonly Published[], log: readonly Published[]): boolean {
  const place = ({ seq, k }: Published): number => seq * 1_000 + k;
  const first = events[0];
  const last = events.at(-1);
  if (!first || !last) return true;
  const stretch = log.filter((event) => place(event) >= place(first) && place(event) <= place(last));
  return JSON.stringify(stretch) === JSON.stringify(events);
}

/** What is wrong; nothing when all is well. */
export function flawsOf({ facts, streams, processes, onceStarts, isLeased, sent, submissions, decisions }: Outcome): readonly string[] {
  const flaws: string[] = [];
  const claim = (isTrue: boolean, flaw: string): void => {
    if (!isTrue) flaws.push(flaw);
  };
  const state = foldAll(emptyState, facts);
  const log = publishedBy(facts);
  claim(
    facts.every(({ seq }, place) => seq === place + 1),
    "the log has a gap",
  );
  claim(state.run === undefined && state.inputs.length === 0, "the session does not rest");
  claim(!isLeased, "a lease is kept at rest");
  claim(new Set(onceStarts).size === onceStarts.length, "a once tool was started twice");
  const written = Array.from({ length: state.history.length }, (_, place) => at(state.history, place)?.message);
  for (const text of sent) {
    const accepted = facts.filter((fact) => fact.type === "input.accepted" && fact.message?.content === text).length;
    claim(accepted <= 1, `${text} was accepted ${accepted} times`);
    const times = written.filter((message) => message?.role === "user" && message.content === text).length;
    claim(times === accepted, `${text} was accepted ${accepted} times and said ${times} times`);
  }
  const ends = facts.flatMap((fact) => (fact.type === "run.finished" ? [fact.runId] : []));
  const starts = facts.flatMap((fact) => (fact.type === "run.started" ? [fact.runId] : []));
  claim(JSON.stringify(starts) === JSON.stringify(ends), "runs did not end once each, in their order");
  for (const { process, text, events, outcome, isRead } of streams) {
    const name = `the stream of ${text} at ${process.node}`;
    if (process.state !== "dead") claim(outcome !== "pending" && isRead, `${name} never ended`);
    const published = durable(events);
    const runId = published[0]?.runId;
    claim(
      isStretchOf(
        published,
        log.filter((event) => event.runId === runId),
      ),
      `${name} is not what the log says`,
    );
    if (outcome !== "resolved") continue;
    const last = events.at(-1);
    const end = endOf(state, runId)?.status;
    const isTrue = last?.type === "execute_complete" && [end === "failed" ? "error" : end, "awaiting_tool_execution"].includes(last.status);
    claim(runId === undefined || isTrue, `${name} ended otherwise than its run`);
    const violation = findEventViolation(events, { joins: true, mayLoseDeltas: true });
    claim(violation === undefined, `${name}: ${violation?.message}`);
  }
  for (const { process, text, accepted, outcome } of submissions) {
    const name = `the submission of ${text} at ${process.node}`;
    if (process.state !== "dead") claim(outcome !== "pending", `${name} never ended`);
    const fact = accepted && facts[accepted.seq - 1];
    if (!accepted) continue;
    const isNamed = fact?.type === "input.accepted" && fact.inputId === accepted.inputId && fact.message?.content === text;
    claim(isNamed, `${name} names another fact`);
    claim(ends.includes(accepted.runId), `${name} names a run that never ended`);
  }
  flaws.push(...flawsOfApprovals(facts, decisions));
  for (const { node, state: end, published, followed = [], isRested, pending } of processes) {
    claim(isStretchOf(durable(followed), log), `what ${node} told its follower is not what the log says`);
    const hasReceivedAll = durable(followed).length === 0 || (durable(followed).at(-1)?.seq === log.at(-1)?.seq && isRested);
    claim(end !== "alive" || hasReceivedAll, `the follower at ${node} was not told all, or not of the rest`);
    claim(isStretchOf(durable(published), log), `what ${node} told its listener is not what the log says`);
    if (end !== "dead") claim(pending() === 0, `${node} keeps ${pending()} timers`);
  }
  return flaws;
}

/** A call that waited for approval is decided on once, and starts only after it was allowed. */
function flawsOfApprovals(facts: readonly Fact[], decisions: Outcome["decisions"]): readonly string[] {
  const written = new Map<string, string>();
  const flaws: string[] = [];
  for (const fact of facts) {
    const before = "callKey" in fact ? written.get(fact.callKey) : undefined;
    if (fact.type === "approval.requested") {
      if (before !== undefined) flaws.push(`${fact.callKey} was asked about twice`);
      written.set(fact.callKey, "asked");
    } else if (fact.type === "approval.decided") {
      if (before !== "asked") flaws.push(`${fact.callKey} was decided on when it was ${before}`);
      written.set(fact.callKey, fact.decision);
    } else if (fact.type === "tool.started" && before !== undefined && before !== "allow")
      flaws.push(`${fact.callKey} was started when it was ${before}`);
  }
  for (const { process, callKey, accepted, outcome } of decisions) {
    if (process.state !== "dead" && outcome === "pending") flaws.push(`the decision on ${callKey} at ${process.node} never ended`);
    const fact = accepted && facts[accepted.seq - 1];
    if (accepted && (fact?.type !== "approval.decided" || fact.callKey !== callKey))
      flaws.push(`the decision on ${callKey} names another fact`);
  }
  return flaws;
}
