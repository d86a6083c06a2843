import type { AgentError, MessageId } from "@loopwright/core/protocol";
import { type KeyboardEvent, type ReactNode, use, useEffect, useRef, useState } from "react";
import { errorOf } from "../../app/notices.ts";
import { ProblemNote } from "../../app/problem-note.tsx";
import { ActionsContext } from "../actions-context.ts";

export interface EditMessageProps {
  readonly id: MessageId;
  readonly text: string;
  readonly onDone: () => void;
}

/** The editor of a user message. The old one stays as a version. */
export function EditMessage({ id, text, onDone }: EditMessageProps): ReactNode {
  const { edit } = use(ActionsContext);
  const [words, setWords] = useState(text);
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<AgentError>();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(text.length, text.length);
  }, [text]);

  const send = async (): Promise<void> => {
    if (words.trim() === "" || isSending) return;
    setSending(true);
    setError(undefined);
    try {
      await edit(id, words);
      onDone();
    } catch (caught) {
      setError(errorOf(caught));
      setSending(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // While letters are being composed Enter belongs to the input method.
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      onDone();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void send();
    }
  };
  return (
    <div className="edit-message">
      <textarea
        ref={field}
        className="field"
        aria-label="Edit message"
        dir="auto"
        value={words}
        onChange={(event) => setWords(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {error ? <ProblemNote error={error} /> : null}
      <div className="edit-foot">
        <span className="edit-hint">The earlier version is kept.</span>
        <button type="button" className="button small" onClick={onDone}>
          Cancel
        </button>
        <button type="button" className="button small primary" disabled={isSending || words.trim() === ""} onClick={() => void send()}>
          Send
        </button>
      </div>
    </div>
  );
}
