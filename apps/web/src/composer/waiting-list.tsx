import { textOf, type WaitingInput } from "@loopwright/core/protocol";
import type { ReactNode } from "react";
import { inertText } from "../conversation/markdown/plain-text.tsx";

export interface WaitingListProps {
  readonly waiting: readonly WaitingInput[];
  /** Words that are on their way to the server. */
  readonly sending?: string;
}

/** Where a message waits. */
const placeNames = { enqueue: "Next", interrupt: "Next", steer: "Joins", merge: "With it" } as const;

/** What was sent while an answer is being written: what joins it, and what comes after it. */
export function WaitingList({ waiting, sending }: WaitingListProps): ReactNode {
  // The event that the message was accepted may come before the answer to its request: it is shown once.
  const isAccepted = waiting.some(({ message }) => message !== undefined && textOf(message) === sending);
  const unaccepted = isAccepted ? undefined : sending;
  if (waiting.length === 0 && unaccepted === undefined) return null;
  return (
    <ul className="waiting" aria-label="Waiting messages">
      {waiting.map(({ inputId, mode, message }) => (
        <li key={inputId} className="waiting-item">
          <span className="waiting-mode">{placeNames[mode]}</span>
          <span className="waiting-text">{message ? labelOf(textOf(message)) : "Answer again"}</span>
        </li>
      ))}
      {unaccepted === undefined ? null : (
        <li className="waiting-item">
          <span className="spinner" />
          <span className="waiting-text">{labelOf(unaccepted)}</span>
          <span className="visually-hidden">Sending</span>
        </li>
      )}
    </ul>
  );
}

function labelOf(text: string): string {
  return text.trim() === "" ? "Files" : inertText(text.replaceAll(/\s+/g, " ").slice(0, 300));
}
