import { present } from "../../message/drop-undefined.ts";
import { backgroundChild } from "../children/background-children.ts";
import {
  answeredBelow,
  begins,
  foldAnswerBelow,
  foldChildWaiting,
  openChildren,
  reportsWaits,
  waitingAgent,
} from "../children/waits-of-children.ts";
import type { DurableBody } from "../event.ts";
import type { FactOf } from "../fact.ts";
import {
  askedBy,
  asksAbout,
  awaitsChild,
  clientDeadline,
  decidesOn,
  endsChildCall,
  endsKeyed,
  foldApprovalDecision,
  foldApprovalRequest,
  foldChildFinished,
  foldChildLinked,
  foldClientAnswered,
  foldClientRequested,
  foldToolFinished,
  foldToolStarted,
  linksKeyed,
  openCall,
  ranAs,
  resultMessage,
  settlesCall,
  startsTool,
} from "../fold-calls.ts";
import type { Call, State } from "../state.ts";
import type { FactKind } from "./fact-kind.ts";
import { ofMessage, pendingApproval, pendingCall, tipId } from "./message-events.ts";

export const toolStarted: FactKind<"tool.started"> = {
  fits: startsTool,
  fold: foldToolStarted,
  publish(before, fact) {
    const call = openCall(before, fact);
    if (!call) return [];
    const { id, callKey, name, args } = call.part;
    const { label, attempt, args: edited = call.args ?? args } = fact;
    const start = { type: "tool_execution_start", toolCallId: id, callKey, toolName: name } as const;
    return [{ ...start, ...(label ? { label } : {}), attempt, args: edited }];
  },
};

export const toolFinished: FactKind<"tool.finished"> = {
  fits: (before, fact) => settlesCall(before, fact) !== undefined,
  fold: foldToolFinished,
  publish: (before, fact) => ofResult(before, settlesCall(before, fact), fact),
};

export const clientRequested: FactKind<"client.requested"> = {
  fits: (before, fact) => requested(before, fact).length > 0,
  fold: foldClientRequested,
  publish(before, fact) {
    const { run } = before;
    const toolCalls = run ? requested(before, fact).map((call) => pendingCall(withArgs(call, fact), clientDeadline(run, call))) : [];
    return [{ type: "awaiting_tool_execution", toolCalls }];
  },
};

/** The call with the arguments that gates edited. */
function withArgs(call: Call, { args: edited }: FactOf<"client.requested">): Call {
  const args = edited?.[call.part.callKey];
  return args ? { ...call, args } : call;
}

const requested = (before: State, { runId, callKeys }: FactOf<"client.requested">): readonly Call[] =>
  callKeys.flatMap((callKey) => {
    const call = openCall(before, { runId, callKey });
    return call?.state === "pending" && call.route === "client" ? [call] : [];
  });

export const clientAnswered: FactKind<"client.answered"> = {
  fits: (before, fact) => settlesCall(before, fact) !== undefined || answeredBelow(before, fact) !== undefined,
  fold: foldClientAnswered,
  publish: (before, fact) => (fact.child ? ofWaiting(before, fact.child, fact) : ofResult(before, settlesCall(before, fact), fact)),
};

export const approvalRequested: FactKind<"approval.requested"> = {
  fits: (before, fact) => asksAbout(before, fact) !== undefined,
  fold: foldApprovalRequest,
  publish(before, fact) {
    const call = asksAbout(before, fact);
    return call ? [{ type: "approval_requested", ...pendingApproval({ ...call, ...askedBy(fact) }) }] : [];
  },
};

export const approvalDecided: FactKind<"approval.decided"> = {
  fits: (before, fact) => decidesOn(before, fact) !== undefined || answeredBelow(before, fact) !== undefined,
  fold: foldApprovalDecision,
  publish(before, fact) {
    if (fact.child) return ofWaiting(before, fact.child, fact);
    const call = decidesOn(before, fact);
    if (!call) return [];
    const { callKey, decision, by, args, note } = fact;
    const more = { ...(by === undefined ? {} : { by }), ...(args ? { args } : {}), ...(note === undefined ? {} : { note }) };
    return [{ type: "approval_decided", toolCallId: call.part.id, callKey, decision, ...more }];
  },
};

export const childLinked: FactKind<"child.linked"> = {
  fits: (before, fact) => awaitsChild(before, fact) !== undefined || linksKeyed(before, fact),
  fold: foldChildLinked,
  publish(before, fact) {
    const { callKey, session, agent, key, background } = fact;
    const args = awaitsChild(before, fact)?.args;
    const awaited = key === undefined ? { awaited: true as const, ...(args ? { args } : {}) } : {};
    const more = { ...(callKey === undefined ? {} : { callKey }), ...awaited, ...(background ? { background: true as const } : {}) };
    return [{ type: "agent_start", session, agent, ...more }];
  },
};

export const childWaiting: FactKind<"child.waiting"> = {
  fits: (before, fact) => begins(before, fact) || reportsWaits(before, fact) !== undefined,
  fold: foldChildWaiting,
  publish: (before, fact) => (begins(before, fact) ? [] : ofWaiting(before, fact, fact)),
};

/** The event with what the child still waits for after the fact. */
function ofWaiting(before: State, { session }: { readonly session: string }, fact: FactOf<AnsweringFact>): readonly DurableBody[] {
  const after = fact.type === "child.waiting" ? foldChildWaiting(before, fact) : foldAnswerBelow(before, fact);
  const child = after.run?.children?.find((one) => one.session === session);
  return child ? [{ type: "agent_waiting", ...waitingAgent(child) }] : [];
}

type AnsweringFact = "child.waiting" | "approval.decided" | "client.answered";

export const childFinished: FactKind<"child.finished"> = {
  fits: (before, fact) =>
    backgroundChild(before, fact.session) !== undefined ||
    endsChildCall(before, fact) !== undefined ||
    endsKeyed(before, fact) !== undefined,
  fold: foldChildFinished,
  publish(before, fact) {
    // The call of the child has ended before the child, perhaps in an earlier run.
    if (backgroundChild(before, fact.session)) return [ofChildEnd(fact)];
    const call = endsChildCall(before, fact);
    if (call) return ofResult(before, call, fact);
    const child = endsKeyed(before, fact);
    // `agent_end` came with the result of the call, before the usage was known.
    if (child?.callKey !== undefined && before.run && !openChildren(before.run).includes(child))
      return fact.usage ? [{ type: "expense", usage: fact.usage, ...(fact.cost ? { cost: fact.cost } : {}) }] : [];
    return [ofChildEnd({ ...child, ...fact })];
  },
};

interface EndedChild extends Pick<FactOf<"child.finished">, "session" | "usage" | "cost"> {
  readonly callKey?: string;
}

const ofChildEnd = ({ callKey, session, usage, cost }: EndedChild): DurableBody => ({
  type: "agent_end",
  session,
  ...present({ callKey, usage, cost }),
});

type ResultFact = FactOf<"tool.finished"> | FactOf<"client.answered"> | FactOf<"child.finished">;

/** The events of a result: the end of the tool if it had started, the end of its children, the message, and after the last result the end of the turn. */
function ofResult(before: State, call: Call | undefined, fact: ResultFact): readonly DurableBody[] {
  if (!call || !before.run) return [];
  const { callKey } = call.part;
  const events: DurableBody[] = call.lane === undefined ? [] : [ofToolEnd(call, fact)];
  // The usage of a child is reported once, with its end.
  if (call.child && !before.run.children?.some(({ session }) => session === call.child?.session))
    events.push(ofChildEnd({ callKey, session: call.child.session, ...(fact.type === "child.finished" ? spentOf(fact) : {}) }));
  for (const child of before.run.children ?? [])
    if (child.callKey === callKey && !child.isDone && !child.background) events.push(ofChildEnd({ callKey, session: child.session }));
  events.push(...ofMessage(String(fact.seq), tipId(before), resultMessage(call, fact)));
  const isLast = before.run.calls.every((other) => other === call || other.state === "done");
  return isLast ? [...events, { type: "turn_end", turn: before.run.turn }] : events;
}

function ofToolEnd({ part: { id, callKey, name } }: Call, fact: ResultFact): DurableBody {
  const { outcome, output, details } = fact;
  const ran = fact.type === "tool.finished" ? { ...ranAs(fact), ...spentOf(fact) } : {};
  return {
    type: "tool_execution_end",
    toolCallId: id,
    callKey,
    toolName: name,
    outcome,
    output,
    ...(details === undefined ? {} : { details }),
    ...ran,
  };
}

const spentOf = ({ usage, cost }: Pick<EndedChild, "usage" | "cost">): Pick<EndedChild, "usage" | "cost"> => present({ usage, cost });
