import type { AgentError, JsonObject, RememberRequest } from "@loopwright/core/protocol";
import { type ReactNode, useCallback, useEffect, useId, useRef, useState } from "react";
import { errorOf } from "../../app/notices.ts";
import { ProblemNote } from "../../app/problem-note.tsx";
import { useServices } from "../../app/services.ts";
import { useWatched } from "../../app/use-watched.ts";
import { clockLabel } from "../amount-labels.ts";
import type { CallDecision } from "../conversation-actions.ts";
import { PlainText } from "../markdown/plain-text.tsx";
import { ArgumentsToRead } from "./arguments-to-read.tsx";
import { DoubtfulHosts } from "./doubtful-hosts.tsx";
import { RememberChoice } from "./remember-choice.tsx";

export interface ApprovalFormProps {
  /** What people call the tool. */
  readonly name: string;
  readonly args: JsonObject;
  readonly reason?: string | undefined;
  readonly deadline?: number | undefined;
  /** Which of several calls it is, in words; absent for the only one. */
  readonly order?: string | undefined;
  /** Rejects with an AgentError, which the form then shows. */
  readonly decide: (decision: CallDecision, form: HTMLFormElement | null) => Promise<void>;
}

/** Where a person decides whether a call may run: not before the end of its arguments was in sight. */
export function ApprovalForm({ name, args, reason, deadline, order, decide }: ApprovalFormProps): ReactNode {
  const { approvalRules } = useServices();
  const remembers = useWatched(approvalRules, (state) => state.remembers);
  const [note, setNote] = useState("");
  const [remember, setRemember] = useState<RememberRequest>();
  const [isSending, setSending] = useState(false);
  const [isRead, setRead] = useState(false);
  const markRead = useCallback(() => setRead(true), []);
  const [error, setError] = useState<AgentError>();
  const form = useRef<HTMLFormElement>(null);
  const question = useId();
  const hint = useId();
  useEffect(() => {
    void approvalRules.load();
  }, [approvalRules]);

  const named = (word: string): string => (order === undefined ? word : `${word}, ${order}`);
  const send = async (decision: CallDecision["decision"]): Promise<void> => {
    setSending(true);
    setError(undefined);
    try {
      await decide({ decision, ...(note.trim() === "" ? {} : { note: note.trim() }), ...(remember ? { remember } : {}) }, form.current);
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
        if (isRead) void send("allow");
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
      <ArgumentsToRead args={args} onRead={markRead} />
      <DoubtfulHosts args={args} />
      <input
        className="field"
        aria-label="Note, if you like"
        placeholder="Note, if you like"
        maxLength={2_000}
        autoComplete="off"
        value={note}
        onChange={(event) => setNote(event.target.value)}
      />
      {remembers ? <RememberChoice args={args} onChange={setRemember} /> : null}
      {error ? <ProblemNote error={error} /> : null}
      {isRead ? null : (
        <p id={hint} className="call-approval-hint">
          Scroll to the end of the arguments to allow the call.
        </p>
      )}
      <div className="call-answer-foot">
        {deadline === undefined ? null : <span className="call-deadline">until {clockLabel(deadline)}</span>}
        <button type="button" className="button small" aria-label={named("Deny")} disabled={isSending} onClick={() => void send("deny")}>
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
