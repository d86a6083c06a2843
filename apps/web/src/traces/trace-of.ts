import type { ViewVerdict } from "@loopwright/client";
import type { Cost, DurableEvent, MessageId, Usage } from "@loopwright/core/protocol";

/** A child that a run has begun. */
export interface TracedAgent {
  readonly session: string;
  readonly agent: string;
  /** The call that began it; absent: a hook did. */
  readonly callKey?: string;
  readonly isDone: boolean;
  readonly usage?: Usage;
  readonly cost?: Cost;
}

/** Older messages in whose place models are sent a summary. */
export type TracedCompaction = Extract<DurableEvent, { readonly type: "context_compacted" }>;

/** What a run did that stands in none of its messages. */
export interface RunTrace {
  /** What hooks changed, by the message that it concerns. */
  readonly verdicts: ReadonlyMap<MessageId, readonly ViewVerdict[]>;
  /** The same by call. */
  readonly ofCalls: ReadonlyMap<string, readonly ViewVerdict[]>;
  /** In the order in which they began. */
  readonly agents: readonly TracedAgent[];
  /** By the answer for which they were made. */
  readonly compactions: ReadonlyMap<MessageId, readonly TracedCompaction[]>;
}

/** The trace of a run from its durable events, in their order; `undefined` where nothing is to be shown. */
export function traceOf(events: readonly DurableEvent[]): RunTrace | undefined {
  const { verdicts, compactions } = byMessage(events);
  const ofCalls = new Map<string, readonly ViewVerdict[]>();
  for (const event of events) {
    if (event.type !== "verdict" || event.callKey === undefined) continue;
    ofCalls.set(event.callKey, [...(ofCalls.get(event.callKey) ?? []), verdictOf(event)]);
  }
  const agents = agentsOf(events);
  const isEmpty = verdicts.size + ofCalls.size + agents.length + compactions.size === 0;
  return isEmpty ? undefined : { verdicts, ofCalls, agents, compactions };
}

function verdictOf({ hook, point, action, reason, callKey, runId = "" }: Extract<DurableEvent, { type: "verdict" }>): ViewVerdict {
  const more = { ...(reason === undefined ? {} : { reason }), ...(callKey === undefined ? {} : { callKey }) };
  return { hook, point, action, runId, ...more };
}

/** Verdicts and compactions wait for the message that they concern; those that wait when the run ends belong to its last one. */
function byMessage(events: readonly DurableEvent[]): Pick<RunTrace, "verdicts" | "compactions"> {
  const verdicts = new Map<MessageId, readonly ViewVerdict[]>();
  const compactions = new Map<MessageId, readonly TracedCompaction[]>();
  let changed: ViewVerdict[] = [];
  let compacted: TracedCompaction[] = [];
  let last: MessageId | undefined;
  const settle = (id: MessageId): void => {
    if (changed.length > 0) verdicts.set(id, [...(verdicts.get(id) ?? []), ...changed]);
    if (compacted.length > 0) compactions.set(id, [...(compactions.get(id) ?? []), ...compacted]);
    [changed, compacted] = [[], []];
  };
  for (const event of events) {
    if (event.type === "verdict" && event.callKey === undefined) changed.push(verdictOf(event));
    else if (event.type === "context_compacted") compacted.push(event);
    else if (event.type === "message_end" && event.message.role !== "tool_result") {
      last = event.messageId;
      // A message of the user may join while a summary waits for its answer.
      if (event.message.role === "assistant" || compacted.length === 0) settle(last);
    } else if (event.type === "run_end" && last !== undefined) settle(last);
  }
  return { verdicts, compactions };
}

function agentsOf(events: readonly DurableEvent[]): readonly TracedAgent[] {
  const agents = new Map<string, TracedAgent>();
  for (const event of events) {
    if (event.type === "agent_start") {
      const { session, agent, callKey } = event;
      agents.set(session, { session, agent, isDone: false, ...(callKey === undefined ? {} : { callKey }) });
    } else if (event.type === "agent_end") {
      const { session, usage, cost } = event;
      const known = agents.get(session);
      if (known) agents.set(session, { ...known, isDone: true, ...(usage ? { usage } : {}), ...(cost ? { cost } : {}) });
    } else if (event.type === "run_end") for (const [session, agent] of agents) agents.set(session, { ...agent, isDone: true });
  }
  return [...agents.values()];
}
