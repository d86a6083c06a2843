import type { Message, MessageId } from "../message/message.ts";
import { at } from "./append-list.ts";
import { askedBy, asksAbout, clientDeadline, decidesOn, openCall, resultMessage, settlesCall, startsTool } from "./calls.ts";
import type { DurableBody, PendingApproval, PendingToolCall } from "./event.ts";
import type { Fact, FactOf } from "./fact.ts";
import { acceptsInput, placeOf } from "./inputs.ts";
import type { Call, Run, State } from "./state.ts";
import { endsAttempt, endsRun, mayRetry, startOf, startsModel, startsRun, waits } from "./turns.ts";

/** The durable events of a fact, in order, derived from the state before it. A fact that changes nothing has none. */
export function eventsOf(before: State, fact: Fact): readonly DurableBody[] {
  if (fact.seq !== before.seq + 1 || before.status === "closed") return [];
  switch (fact.type) {
    case "session.changed":
      return [
        {
          type: "session_changed",
          ...(fact.title === undefined ? {} : { title: fact.title }),
          ...(fact.metadata ? { metadata: fact.metadata } : {}),
        },
      ];
    case "session.closed":
      return [{ type: "session_closed" }];
    case "head.moved":
      return placeOf(before, fact.to) === undefined ? [] : [{ type: "head_moved", to: fact.to }];
    case "input.accepted":
      return !acceptsInput(before, fact) ? [] : [ofInput(fact)];
    case "run.started":
      return startsRun(before, fact) ? ofRunStart(before, fact) : [];
    case "model.started":
      return startsModel(before, fact) ? ofModelStart(before, fact) : [];
    case "model.finished":
      return endsAttempt(before, fact) ? ofModelEnd(before, fact) : [];
    case "model.failed":
      return before.run && endsAttempt(before, fact) ? [discarded(before.run, fact)] : [];
    case "wait.scheduled":
      return !waits(before, fact) ? [] : [{ type: "retry_scheduled", turn: fact.turn, until: fact.until, reason: fact.reason }];
    case "tool.started":
      return startsTool(before, fact) ? ofToolStart(openCall(before, fact), fact) : [];
    case "tool.finished":
    case "client.answered":
      return ofResult(before, fact);
    case "client.requested":
      return ofClientRequest(before, fact);
    case "approval.requested":
      return ofApprovalRequest(before, fact);
    case "approval.decided":
      return ofApprovalDecision(before, fact);
    case "child.linked":
      return openCall(before, fact) ? [{ type: "agent_start", callKey: fact.callKey, session: fact.session, agent: fact.agent }] : [];
    case "abort.requested":
      return before.run?.runId === fact.runId && !before.run.abort ? [{ type: "aborting", reason: fact.reason }] : [];
    case "limit.reached":
      return before.run?.runId === fact.runId && !before.run.limit ? [{ type: "limit_reached", which: fact.which, value: fact.value }] : [];
    case "context.compacted":
      return [{ type: "context_compacted", from: fact.from, to: fact.to }];
    case "run.finished":
      return before.run && endsRun(before, fact) ? ofRunEnd(before.run, fact) : [];
    case "session.opened":
    case "owner.claimed":
      return [];
    default:
      return fact satisfies never;
  }
}

const ofInput = ({ inputId, mode, message, parent }: FactOf<"input.accepted">): DurableBody => ({
  type: "input_accepted",
  inputId,
  mode,
  ...(message ? { message } : {}),
  ...(parent === undefined ? {} : { parent }),
});

const ofMessage = (messageId: MessageId, parent: MessageId | null, message: Message): readonly DurableBody[] => [
  { type: "message_start", messageId, role: message.role },
  { type: "message_end", messageId, parent, message },
];

/** The message that the next one of the open run continues. */
const tipId = (state: State): MessageId | null => at(state.history, state.run?.tip ?? state.head)?.id ?? null;

function ofRunStart(before: State, fact: FactOf<"run.started">): readonly DurableBody[] {
  const input = before.inputs[0];
  const start: DurableBody = { type: "run_start", model: fact.model, provider: fact.provider };
  if (!input?.message) return [start];
  const parent = at(before.history, startOf(before, input))?.id ?? null;
  return [start, ...ofMessage(String(input.seq), parent, input.message)];
}

function ofModelStart(before: State, fact: FactOf<"model.started">): readonly DurableBody[] {
  let tip = tipId(before);
  const next = (id: MessageId, message: Message): readonly DurableBody[] => {
    const events = ofMessage(id, tip, message);
    tip = id;
    return events;
  };
  const joined = (before.run?.steered ?? []).flatMap((input) => (input.message ? next(String(input.seq), input.message) : []));
  const noticed = (fact.notices ?? []).flatMap((text, i) => next(`${fact.seq}.${i}`, { role: "notice", text }));
  const start: readonly DurableBody[] = fact.attempt === 1 ? [{ type: "turn_start", turn: fact.turn }] : [];
  return [...start, ...joined, ...noticed, { type: "message_start", role: "assistant" }];
}

function ofModelEnd(before: State, fact: FactOf<"model.finished">): readonly DurableBody[] {
  const { usage, cost, message, timings } = fact;
  const end: DurableBody = {
    type: "message_end",
    messageId: String(fact.seq),
    parent: tipId(before),
    message,
    ...(usage ? { usage } : {}),
    ...(cost ? { cost } : {}),
    timings,
  };
  return message.content.some((part) => part.type === "tool_call") ? [end] : [end, { type: "turn_end", turn: fact.turn }];
}

function discarded(run: Run, fact: FactOf<"model.failed">): DurableBody {
  const { turn, attempt, failure } = fact;
  return {
    type: "attempt_discarded",
    turn,
    attempt,
    code: failure.code,
    reason: failure.message,
    willRetry: mayRetry(run, fact) && !run.abort,
    ...(fact.usage ? { usage: fact.usage } : {}),
    ...(fact.cost ? { cost: fact.cost } : {}),
  };
}

function ofToolStart(call: Call | undefined, fact: FactOf<"tool.started">): readonly DurableBody[] {
  if (!call) return [];
  const { id, callKey, name, args } = call.part;
  const shown = fact.args ?? call.args ?? args;
  return [
    {
      type: "tool_execution_start",
      toolCallId: id,
      callKey,
      toolName: name,
      ...(fact.label ? { label: fact.label } : {}),
      attempt: fact.attempt,
      args: shown,
    },
  ];
}

function ofResult(before: State, fact: FactOf<"tool.finished"> | FactOf<"client.answered">): readonly DurableBody[] {
  const call = settlesCall(before, fact);
  if (!call || !before.run) return [];
  const { id, callKey, name } = call.part;
  const events: DurableBody[] = [];
  if (call.stage === "started") {
    const { outcome, output, details } = fact;
    const { durationMs, usage, cost } = fact.type === "tool.finished" ? fact : {};
    const more = {
      ...(details === undefined ? {} : { details }),
      ...(durationMs === undefined ? {} : { durationMs }),
      ...(usage ? { usage } : {}),
      ...(cost ? { cost } : {}),
    };
    events.push({ type: "tool_execution_end", toolCallId: id, callKey, toolName: name, outcome, output, ...more });
  }
  if (call.child) events.push({ type: "agent_end", callKey, session: call.child.session });
  events.push(...ofMessage(String(fact.seq), tipId(before), resultMessage(call, fact)));
  const isLast = before.run.calls.every((other) => other === call || other.stage === "settled");
  return isLast ? [...events, { type: "turn_end", turn: before.run.turn }] : events;
}

function ofClientRequest(before: State, fact: FactOf<"client.requested">): readonly DurableBody[] {
  const { run } = before;
  const asked = fact.callKeys.flatMap((callKey) => {
    const call = openCall(before, { runId: fact.runId, callKey });
    return run && call?.stage === "owed" && call.route === "client" ? [pendingCall(call, clientDeadline(run, call))] : [];
  });
  return asked.length > 0 ? [{ type: "awaiting_tool_execution", toolCalls: asked }] : [];
}

/** A call that waits for its caller, as events and results show it. */
export function pendingCall(call: Call, deadline: number | undefined): PendingToolCall {
  const { id, callKey, name, args } = call.part;
  return { toolCallId: id, callKey, toolName: name, args: call.args ?? args, ...(deadline === undefined ? {} : { deadline }) };
}

function ofApprovalRequest(before: State, fact: FactOf<"approval.requested">): readonly DurableBody[] {
  const call = asksAbout(before, fact);
  return call ? [{ type: "approval_requested", ...pendingApproval({ ...call, ...askedBy(fact) }) }] : [];
}

/** A call that waits for a person's leave, as events and results show it. */
export function pendingApproval({ part, args, asking, deadline }: Call): PendingApproval {
  return {
    toolCallId: part.id,
    callKey: part.callKey,
    toolName: part.name,
    args: args ?? part.args,
    argsDigest: asking?.argsDigest ?? "",
    ...(asking?.reason === undefined ? {} : { reason: asking.reason }),
    ...(deadline === undefined ? {} : { deadline }),
  };
}

function ofApprovalDecision(before: State, fact: FactOf<"approval.decided">): readonly DurableBody[] {
  const call = decidesOn(before, fact);
  if (!call) return [];
  const { callKey, decision, by, args, note } = fact;
  return [
    {
      type: "approval_decided",
      toolCallId: call.part.id,
      callKey,
      decision,
      ...(by === undefined ? {} : { by }),
      ...(args ? { args } : {}),
      ...(note === undefined ? {} : { note }),
    },
  ];
}

function ofRunEnd(run: Run, fact: FactOf<"run.finished">): readonly DurableBody[] {
  const { status, reason, failure } = fact;
  const end: DurableBody = {
    type: "run_end",
    status,
    reason,
    ...(run.usage ? { usage: run.usage } : {}),
    ...(run.cost ? { cost: run.cost } : {}),
  };
  if (status === "completed") return [end];
  const aborted = { type: "error", reason: "aborted", code: "RUN_ABORTED", error: `The run was stopped: ${reason}.` } as const;
  const failed = {
    type: "error",
    reason: "error",
    code: failure?.code ?? "INTERNAL",
    error: failure?.message ?? "The run failed.",
  } as const;
  return [status === "aborted" ? aborted : failed, end];
}
