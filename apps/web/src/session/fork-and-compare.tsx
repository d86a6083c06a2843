import type { MessageId } from "@loopwright/core/protocol";
import type { ReactNode } from "react";
import { useServices } from "../app/services.ts";
import { goTo } from "../app/use-route.ts";
import { CompareDialog } from "../forks/compare-dialog.tsx";
import { ForkDialog } from "../forks/fork-dialog.tsx";
import type { OpenSession } from "./open-session.ts";

export interface ForkAndCompareProps {
  readonly session: OpenSession;
  /** The message at which the conversation is to be forked. */
  readonly forkedAt: MessageId | undefined;
  readonly isCompared: boolean;
  readonly onClose: () => void;
}

/** The dialogs about other conversations, of the view as it was when they were opened or rendered last. */
export function ForkAndCompare({ session, forkedAt, isCompared, onClose }: ForkAndCompareProps): ReactNode {
  const { notices } = useServices();
  const { sessionId } = session;
  const { view } = session.read();
  if (!view) return null;
  if (isCompared) return <CompareDialog sessionId={sessionId} view={view} onShow={onClose} onClose={onClose} />;
  if (forkedAt === undefined) return null;
  const open = (fork: string): void => {
    onClose();
    goTo({ name: "session", sessionId: fork });
    notices.say("This is a fork: what you write here does not change the conversation it comes from");
  };
  return <ForkDialog sessionId={sessionId} view={view} message={forkedAt} onFork={open} onClose={onClose} />;
}
