import type { AgentError } from "@loopwright/core/protocol";
import type { ReactNode } from "react";
import { ProblemNote } from "../app/problem-note.tsx";
import { goTo } from "../app/use-route.ts";
import { Topbar } from "./topbar.tsx";

export interface SessionTroubleProps {
  readonly error: AgentError | undefined;
  readonly isMissing: boolean;
  readonly onSidebar: (() => void) | undefined;
  readonly onRetry: () => void;
}

/** In place of a conversation that cannot be shown. */
export function SessionTrouble({ error, isMissing, onSidebar, onRetry }: SessionTroubleProps): ReactNode {
  return (
    <div className="screen">
      <Topbar onSidebar={onSidebar} title={<h1>{isMissing ? "Conversation not found" : "Something is wrong"}</h1>} />
      <div className="start">
        {error ? (
          <ProblemNote error={error}>
            {isMissing ? null : (
              <button type="button" className="button small" onClick={onRetry}>
                Try again
              </button>
            )}
            <button type="button" className="button small" onClick={() => goTo({ name: "new" })}>
              New conversation
            </button>
          </ProblemNote>
        ) : null}
      </div>
    </div>
  );
}
