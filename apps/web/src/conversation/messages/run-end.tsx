import type { SessionView, ViewEnd } from "@loopwright/client";
import { AgentError } from "@loopwright/core/protocol";
import { type ReactNode, use } from "react";
import { Icon } from "../../app/icon.tsx";
import { ProblemNote } from "../../app/problem-note.tsx";
import { ActionsContext } from "../actions-context.ts";

/** How the last run ended, when it did not end well: what happened, what to do, and a way to do it. */
export function RunEnd({ end, path }: { readonly end: ViewEnd; readonly path: SessionView["path"] }): ReactNode {
  const { regenerate, openRun } = use(ActionsContext);
  const question = path.findLast(({ message }) => message.role === "user");
  const buttons = (
    <>
      {question ? (
        <button type="button" className="button small" onClick={() => void regenerate(question.id)}>
          Try again
        </button>
      ) : null}
      <button type="button" className="button small" onClick={() => openRun(end.runId)}>
        Show the run
      </button>
    </>
  );
  if (end.status === "failed") {
    const error = new AgentError(end.code ?? "INTERNAL", { message: end.error ?? end.reason });
    return (
      <div className="run-end">
        <ProblemNote error={error}>{buttons}</ProblemNote>
      </div>
    );
  }
  return (
    <div className="run-end quiet">
      <Icon name={end.status === "aborted" ? "stop" : "info"} />
      <span>
        {end.status === "aborted" ? "Stopped before there was an answer" : "A limit of the run was reached: send a message to continue"}
      </span>
      {buttons}
    </div>
  );
}
