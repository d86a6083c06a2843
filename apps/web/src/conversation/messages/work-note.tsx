import type { ViewRun } from "@loopwright/client";
import type { ReactNode } from "react";
import { Elapsed, Remaining } from "../elapsed.tsx";
import { PlainText } from "../markdown/plain-text.tsx";

export interface WorkNoteProps {
  readonly run: ViewRun | undefined;
  /** When what is waited for began; absent where it was not seen. */
  readonly since?: number;
}

const slowMs = 3000;

/** What a run does while nothing of its answer can be seen. */
export function WorkNote({ run, since }: WorkNoteProps): ReactNode {
  if (run?.aborting !== undefined) return <p className="work-note shimmer">Stopping</p>;
  if (run?.retry) {
    const { reason, until } = run.retry;
    return (
      <p className="work-note" data-kind="retry">
        <span className="shimmer">Trying again {until === undefined ? "" : <Remaining until={until} />}</span>
        <span className="work-reason">
          <PlainText text={reason} />
        </span>
      </p>
    );
  }
  return (
    <p className="work-note">
      <span className="work-dots" aria-hidden="true">
        <span className="work-dot" />
        <span className="work-dot" />
        <span className="work-dot" />
      </span>
      <span className="visually-hidden">Waiting for the model</span>
      {since === undefined ? null : <Elapsed since={since} afterMs={slowMs} />}
    </p>
  );
}
