import { lazy, type ReactNode, Suspense, useMemo } from "react";
import { useServices } from "../app/services.ts";
import { useWatched } from "../app/use-watched.ts";
import { loadRun } from "./load-run.ts";
import type { OpenSession } from "./open-session.ts";

const RunView = lazy(async () => ({ default: (await import("../run-view/run-view.tsx")).RunView }));

export interface RunPaneProps {
  readonly session: OpenSession;
  readonly runId: string;
  readonly onClose: () => void;
}

/** The waterfall of a run, beside the conversation. Its code comes when it is first asked for. */
export function RunPane({ session, runId, onClose }: RunPaneProps): ReactNode {
  const { client } = useServices();
  const view = useWatched(session, (state) => state.view);
  const { sessionId } = session;
  const load = useMemo(() => loadRun(client, sessionId), [client, sessionId]);
  if (!view) return null;
  return (
    <aside className="run-place" aria-label="How this answer was made">
      <Suspense fallback={<span className="spinner" />}>
        <RunView runId={runId} view={view} load={load} onClose={onClose} />
      </Suspense>
    </aside>
  );
}
