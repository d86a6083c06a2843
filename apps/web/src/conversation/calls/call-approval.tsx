import type { ViewCall } from "@loopwright/client";
import type { AgentError } from "@loopwright/core/protocol";
import { type ReactNode, use, useCallback, useId, useRef, useState } from "react";
import { errorOf } from "../../app/notices.ts";
import { ProblemNote } from "../../app/problem-note.tsx";
import { ActionsContext } from "../actions-context.ts";
import { clockLabel } from "../amount-labels.ts";
import type { CallDecision } from "../conversation-actions.ts";
import { PlainText } from "../markdown/plain-text.tsx";
import { ArgumentsToRead } from "./arguments-to-read.tsx";
import { DoubtfulHosts } from "./doubtful-hosts.tsx";

export interface CallApprovalProps {
  readonly call: ViewCall;
  /** Which of the calls of its message it is, in words; absent for the only one. */
  readonly order?: string;
}

/** Where a person decides whether a call may run: not before the end of its arguments was in sight. */
export function CallApproval({ call, order }: CallApprovalProps): ReactNode {
  const { decideCall, toolLabel } = use(ActionsContext);
  const [note, setNote] = useState("");
  const [isSending, setSending] = useState(false);
  const [isRead, setRead] = useState(false);
  const markRead = useCallback(() => setRead(true), []);
  const [error, setError] = useState<AgentError>();
  const form = useRef<HTMLFormElement>(null);
  const question = useId();
  const hint = useId();
  const name = call.label ?? toolLabel(call.toolName) ?? call.toolName;
  const reason = call.approval?.reason;

  const named = (word: string): string => (order === undefined ? word : `${word}, ${order}`);

  const decide = async (decision: CallDecision["decision"]): Promise<void> => {
    // The buttons disappear with the answer: the focus of the keyboard stays with the call.
    const head = form.current?.closest(".call")?.querySelector<HTMLElement>(".call-head");
    setSending(true);
    setError(undefined);
    try {
      await decideCall(call, { decision, ...(note.trim() === "" ? {} : { note: note.trim() }) });
      head?.focus();
    } catch (caught) {
      setError(errorOf(caught));
      setSending(false);
    }
  };
  return (
    <form
      ref={form}
      className="call-approval"
      aria-labelledby={question}
      onSubmit={(event) => {
        event.preventDefault();
        if (isRead) void decide("allow");
      }}
    >
      <p id={question}>
        Run “<PlainText text={name} />
        ”?
        {reason === undefined ? null : (
          <span className="call-approval-reason">
            {" "}
            <PlainText text={reason} />
          </span>
        )}
        {order === undefined ? null : <span className="call-approval-order"> {order}</span>}
      </p>
      <ArgumentsToRead args={call.args} onRead={markRead} />
      <DoubtfulHosts args={call.args} />
      <input
        className="field"
        aria-label="Note, if you like"
        placeholder="Note, if you like"
        maxLength={2_000}
        autoComplete="off"
        value={note}
        onChange={(event) => setNote(event.target.value)}
      />
      {error ? <ProblemNote error={error} /> : null}
      {isRead ? null : (
        <p id={hint} className="call-approval-hint">
          Scroll to the end of the arguments to allow the call.
        </p>
      )}
      <div className="call-answer-foot">
        {call.deadline === undefined ? null : <span className="call-deadline">until {clockLabel(call.deadline)}</span>}
        <button type="button" className="button small" aria-label={named("Deny")} disabled={isSending} onClick={() => void decide("deny")}>
          Deny
        </button>
        <button
          type="submit"
          className="button small primary"
          aria-label={named("Allow")}
          disabled={isSending || !isRead}
          aria-describedby={isRead ? undefined : hint}
        >
          Allow
        </button>
      </div>
    </form>
  );
}
