import type { AgentError } from "@loopwright/core/protocol";
import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";

export interface ProblemNoteProps {
  readonly error: AgentError;
  /** Buttons: what can be done here and now. */
  readonly children?: ReactNode;
}

/** What went wrong, what to do about it, and the code to look it up. */
export function ProblemNote({ error, children }: ProblemNoteProps): ReactNode {
  return (
    <div className="problem" role="alert">
      <span className="problem-sign">
        <Icon name="warning" />
      </span>
      <div className="problem-text">
        <p>{error.message}</p>
        <p className="problem-fix">
          {error.fix} <span className="problem-code">{error.code}</span>
        </p>
        {children ? <div className="problem-actions">{children}</div> : null}
      </div>
    </div>
  );
}
