import type { ViewCall, ViewRun } from "@loopwright/client";
import { type ReactNode, use } from "react";
import { PlainText } from "../markdown/plain-text.tsx";
import { WaitingAgentsContext } from "../waiting-agents-context.ts";
import { CallAnswerForm } from "./call-answer-form.tsx";
import { CallApproval } from "./call-approval.tsx";

type WaitingAgent = NonNullable<ViewRun["waitingAgents"]>[number];
type PendingCall = WaitingAgent["pendingApprovals"][number] | WaitingAgent["pendingToolCalls"][number];

interface ChildCall {
  /** The agent that made the call. */
  readonly agent: string;
  readonly call: ViewCall;
}

/** The calls that the children of a call wait for, however deep they are: they are decided and answered at this session. */
export function ChildCalls({ callKey }: { readonly callKey: string }): ReactNode {
  const waiting = use(WaitingAgentsContext)
    .filter((agent) => agent.callKey === callKey)
    .flatMap((agent) => [...agent.pendingApprovals, ...agent.pendingToolCalls].map((pending) => childCall(agent.agent, pending)));
  return waiting.map(({ agent, call }, i) => {
    const order = waiting.length > 1 ? { order: `Call ${i + 1} of ${waiting.length}` } : {};
    return (
      <div key={call.callKey} className="call-child">
        <p className="call-child-agent">
          The agent “
          <PlainText text={agent} />” {call.approval ? "asks" : `waits for an answer to “${call.toolName}”`}.
        </p>
        {call.approval ? <CallApproval call={call} {...order} /> : <CallAnswerForm call={call} />}
      </div>
    );
  });
}

function childCall(agent: string, pending: PendingCall): ChildCall {
  const { callKey, toolCallId, toolName, args, deadline } = pending;
  const base = { callKey, toolCallId, toolName, args, written: "", progress: [], ...(deadline === undefined ? {} : { deadline }) };
  const call: ViewCall =
    "argsDigest" in pending
      ? { ...base, state: "awaiting_approval", approval: { argsDigest: pending.argsDigest, reason: pending.reason } }
      : { ...base, state: "awaiting_client" };
  return { agent: pending.agent ?? agent, call };
}
