import type { ViewCall } from "@loopwright/client";
import type { AgentError } from "@loopwright/core/protocol";
import { type ReactNode, use, useState } from "react";
import { errorOf } from "../../app/notices.ts";
import { ProblemNote } from "../../app/problem-note.tsx";
import { ActionsContext } from "../actions-context.ts";
import { clockLabel } from "../amount-labels.ts";

/** Where a person answers in place of the program that the call waits for. */
export function CallAnswerForm({ call }: { readonly call: ViewCall }): ReactNode {
  const { answerCall, toolLabel } = use(ActionsContext);
  const [content, setContent] = useState("");
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<AgentError>();
  const send = async (isError: boolean): Promise<void> => {
    setSending(true);
    setError(undefined);
    try {
      await answerCall(call, { content, isError });
    } catch (caught) {
      setError(errorOf(caught));
    } finally {
      setSending(false);
    }
  };
  return (
    <form
      className="call-answer"
      onSubmit={(event) => {
        event.preventDefault();
        void send(false);
      }}
    >
      <textarea
        className="field"
        rows={3}
        aria-label={`Answer to ${call.label ?? toolLabel(call.toolName) ?? call.toolName}`}
        placeholder="What the model reads as the result"
        value={content}
        onChange={(event) => setContent(event.target.value)}
      />
      {error ? <ProblemNote error={error} /> : null}
      <div className="call-answer-foot">
        {call.deadline === undefined ? null : <span className="call-deadline">until {clockLabel(call.deadline)}</span>}
        <button type="button" className="button small" disabled={isSending} onClick={() => void send(true)}>
          Refuse
        </button>
        <button type="submit" className="button small primary" disabled={isSending || content.trim() === ""}>
          Send answer
        </button>
      </div>
    </form>
  );
}
