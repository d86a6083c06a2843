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
  /** What is on its way. */
  readonly sending: Draft | undefined;
  /** Why the last try failed; the words are back in the draft. */
  readonly problem: AgentError | undefined;
  send(mode: InputMode): Promise<void>;
}

/**
 * The draft of a session and its sending. The words stay kept until the server has them: after a failure or a reload they are
 * there again, with their key, so that sending them once more is never a second message. What could not be sent for want of a connection
 * is sent when `isConnected` becomes true again.
 */
export function useSending(draftOf: string, post: (outgoing: Outgoing) => Promise<void>, isConnected: boolean): Sending {
  const { drafts } = useServices();
  const [draft, show] = useState(() => drafts.get(draftOf));
  const [sending, setSending] = useState<Draft>();
  const [problem, setProblem] = useState<AgentError>();
  // The newest draft and what is on its way, also for a sending that ends when nothing is rendered any more.
  const now = useRef(draft);
  const lastMode = useRef<InputMode>("enqueue");
  const onItsWay = useRef<Draft>(undefined);

  const put = (next: Draft): void => {
    now.current = next;
    // What is on its way stays kept until it has arrived.
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
  // What failed for want of a connection goes when it is back, unless it was changed meanwhile: the key is the same, so never twice.
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

/** What could not be sent, and what was written since. Other words are another message: they get a key of their own. */
function joined(unsent: Draft, since: Draft): Draft {
  if (since.text === "" && since.files.length === 0) return unsent;
  const text = [unsent.text, since.text].filter((words) => words !== "").join("\n\n");
  return { text, files: [...unsent.files, ...since.files] };
}
