import type { InboxApproval, JsonObject } from "@loopwright/core/protocol";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { errorOf } from "../../app/notices.ts";
import { ProblemNote } from "../../app/problem-note.tsx";
import { hashOf } from "../../app/route.ts";
import { useServices } from "../../app/services.ts";
import { useWatched } from "../../app/use-watched.ts";
import { ApprovalForm } from "../../conversation/calls/approval-form.tsx";
import type { CallDecision } from "../../conversation/conversation-actions.ts";
import { PlainText } from "../../conversation/markdown/plain-text.tsx";
import { RuleCards } from "./rule-cards.tsx";
import { useApprovalInbox } from "./use-approval-inbox.ts";
import "../../conversation/calls/calls.css";

/** Everything that waits for a decision of this person, and the decisions that hold for later calls. */
export function ApprovalsSection(): ReactNode {
  const { client, agents, approvalRules, notices } = useServices();
  const { approvals, next, error, isKnown, refresh, showMore } = useApprovalInbox();
  const labels = useWatched(agents, (state) => state.agents);
  const top = useRef<HTMLHeadingElement>(null);

  const decide = async ({ sessionId, callKey, argsDigest, toolName }: InboxApproval, decision: CallDecision): Promise<void> => {
    await client.sessions.decide(sessionId, callKey, { ...decision, argsDigest });
    notices.say(`${decision.decision === "allow" ? "Allowed" : "Denied"}: ${toolName.slice(0, 60)}`);
    // The form disappears: the focus of the keyboard moves to the list.
    top.current?.focus();
    await Promise.all([refresh(), approvalRules.reload()]);
  };
  const labelOf = (name: string): string => labels.flatMap(({ tools }) => tools).find((tool) => tool.name === name)?.label ?? name;

  return (
    <>
      <h3 ref={top} tabIndex={-1} className="inbox-head">
        Waiting for you
      </h3>
      {error ? <ProblemNote error={error} /> : null}
      {isKnown && approvals.length === 0 && next === undefined ? <p className="settings-empty">Nothing waits for a decision.</p> : null}
      <ul className="settings-cards" aria-label="Waiting for you">
        {approvals.map((approval, at) => (
          <li key={approval.callKey} className="call">
            <p className="settings-hint">
              <a href={hashOf({ name: "session", sessionId: approval.sessionId })}>
                <PlainText text={approval.title ?? "Conversation"} />
              </a>
              {approval.agent === undefined ? null : (
                <>
                  , asked by <PlainText text={approval.agent} />
                </>
              )}
            </p>
            <WholeArguments approval={approval}>
              {(args) => (
                <ApprovalForm
                  name={labelOf(approval.toolName)}
                  args={args}
                  reason={approval.reason}
                  deadline={approval.deadline}
                  order={approvals.length > 1 ? `${at + 1} of ${approvals.length}` : undefined}
                  decide={(decision) => decide(approval, decision)}
                />
              )}
            </WholeArguments>
          </li>
        ))}
      </ul>
      {next === undefined ? null : (
        <button type="button" className="button small" onClick={() => void showMore()}>
          Look further
        </button>
      )}
      <RuleCards />
    </>
  );
}

interface WholeArgumentsProps {
  readonly approval: InboxApproval;
  readonly children: (args: JsonObject) => ReactNode;
}

/** Arguments that are too long for the list are read with their conversation. */
function WholeArguments({ approval, children }: WholeArgumentsProps): ReactNode {
  const { client, notices } = useServices();
  const [args, setArgs] = useState(approval.args);
  const { sessionId, callKey, argsBytes } = approval;
  const read = useCallback(async (): Promise<void> => {
    try {
      const { run } = await client.sessions.get(sessionId);
      setArgs(run?.pendingApprovals?.find((one) => one.callKey === callKey)?.args);
    } catch (caught) {
      notices.fail(errorOf(caught));
    }
  }, [client, notices, sessionId, callKey]);
  useEffect(() => {
    if (!args) void read();
  }, [args, read]);
  return args ? children(args) : <p className="settings-hint">Reading {Math.ceil(argsBytes / 1024)} KiB of arguments ...</p>;
}
