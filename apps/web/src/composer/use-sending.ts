import { type AgentError, type InputMode, isAgentError } from "@loopwright/core/protocol";
import { useEffect, useRef, useState } from "react";
import { type Draft, emptyDraft } from "../app/drafts.ts";
import { errorOf } from "../app/notices.ts";
import { useServices } from "../app/services.ts";
import { newId } from "./new-id.ts";
import { messageOf, type Outgoing } from "./outgoing.ts";

export interface Sending {
  readonly draft: Draft;
  setDraft(change: (now: Draft) => Draft): void;
  /** The message that is being sent. */
  readonly sending: Draft | undefined;
  /** Why the last try failed; its text is in the draft again. */
  readonly problem: AgentError | undefined;
  send(mode: InputMode): Promise<void>;
}

/**
 * The draft of a session and its sending. The text is kept until the server has it: after a failure or a reload it is in the draft again, with its
 * idempotency key, so that sending it once more never makes a second message. A message that failed without a connection is sent when `isConnected`
 * becomes true again.
 */
export function useSending(draftOf: string, post: (outgoing: Outgoing) => Promise<void>, isConnected: boolean): Sending {
  const { drafts } = useServices();
  const [draft, show] = useState(() => drafts.get(draftOf));
  const [sending, setSending] = useState<Draft>();
  const [problem, setProblem] = useState<AgentError>();
  // References to the newest draft and the message that is being sent, because a request may end after the component was removed.
  const now = useRef(draft);
  const lastMode = useRef<InputMode>("enqueue");
  const onItsWay = useRef<Draft>(undefined);

  const put = (next: Draft): void => {
    now.current = next;
    // A message that is being sent stays kept until it has arrived.
    drafts.set(draftOf, onItsWay.current ? joined(onItsWay.current, next) : next);
    show(next);
  };
  const send = async (mode: InputMode): Promise<void> => {
    lastMode.current = mode;
    const outgoing = { ...now.current, key: now.current.key ?? newId() };
    onItsWay.current = outgoing;
    put(emptyDraft);
    setSending(outgoing);
    setProblem(undefined);
    try {
      await post({ message: messageOf(outgoing), key: outgoing.key, mode });
      onItsWay.current = undefined;
      put(now.current);
    } catch (error) {
      onItsWay.current = undefined;
      put(joined(outgoing, now.current));
      setProblem(errorOf(error));
    } finally {
      setSending(undefined);
    }
  };
  // A message that failed without a connection is sent again when the connection is back, unless it was changed. The same key prevents a duplicate.
  const again = useRef<() => void>(undefined);
  useEffect(() => {
    again.current = () => {
      if (isAgentError(problem, "SERVER_UNREACHABLE") && now.current.key !== undefined && !onItsWay.current) void send(lastMode.current);
    };
  });
  useEffect(() => {
    if (isConnected) again.current?.();
  }, [isConnected]);
  const setDraft = (change: (now: Draft) => Draft): void => put(change(now.current));
  return { draft, setDraft, sending, problem, send };
}

/** The draft after a failure: the unsent text and the text written since. A changed text is another message, so it gets a key of its own. */
function joined(unsent: Draft, since: Draft): Draft {
  if (since.text === "" && since.files.length === 0) return unsent;
  const text = [unsent.text, since.text].filter((words) => words !== "").join("\n\n");
  return { text, files: [...unsent.files, ...since.files] };
}
