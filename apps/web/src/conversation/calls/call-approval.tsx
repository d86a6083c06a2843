import type { ViewCall } from "@loopwright/client";
import type { AgentError } from "@loopwright/core/protocol";
import { type ReactNode, use, useId, useRef, useState } from "react";
import { errorOf } from "../../app/notices.ts";
import { ProblemNote } from "../../app/problem-note.tsx";
import { ActionsContext } from "../actions-context.ts";
import { clockLabel } from "../amount-labels.ts";
import type { CallDecision } from "../conversation-actions.ts";
import { PlainText } from "../markdown/plain-text.tsx";
import { JsonText } from "./long-text.tsx";

export interface CallApprovalProps {
  readonly call: ViewCall;
  /** False where the arguments are to be seen already. */
  readonly showsArguments: boolean;
}

/** Where a person says whether a call may run. Never without its arguments in sight. */
export function CallApproval({ call, showsArguments }: CallApprovalProps): ReactNode {
  const { decideCall, toolLabel } = use(ActionsContext);
  const [note, setNote] = useState("");
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<AgentError>();
  const form = useRef<HTMLFormElement>(null);
  const question = useId();
  const name = call.label ?? toolLabel(call.toolName) ?? call.toolName;
  const reason = call.approval?.reason;

  const decide = async (decision: CallDecision["decision"]): Promise<void> => {
    // The buttons go with the answer: whoever uses the keyboard stays with the call.
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
        void decide("allow");
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
      </p>
      {showsArguments ? <JsonText value={call.args} /> : null}
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
      <div className="call-answer-foot">
        {call.deadline === undefined ? null : <span className="call-deadline">until {clockLabel(call.deadline)}</span>}
        <button type="button" className="button small" disabled={isSending} onClick={() => void decide("deny")}>
          Deny
        </button>
        <button type="submit" className="button small primary" disabled={isSending}>
          Allow
        </button>
      </div>
    </form>
  );
}
