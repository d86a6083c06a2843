import { type Context, createContext, type ReactNode, use, useEffect } from "react";
import { useWatched } from "../app/use-watched.ts";
import { type RunTraces, runTraces } from "./run-traces.ts";
import type { RunTrace } from "./trace-of.ts";

/** The traces of a session's runs, and how a session that one of them has begun is shown. */
export interface Traces {
  readonly runs: RunTraces;
  readonly child: (sessionId: string) => ReactNode;
}

/** Without a session around it nothing is known. */
export const TracesContext: Context<Traces> = createContext<Traces>({ runs: runTraces(async () => []), child: () => null });

/** A row that is only scrolled past asks for nothing. */
const restMs = 200;

/** What is known of a run beside its messages. */
export function useTrace(runId: string | undefined): RunTrace | undefined {
  const { runs } = use(TracesContext);
  useEffect(() => {
    if (runId === undefined) return;
    const timer = setTimeout(() => runs.want(runId), restMs);
    return () => clearTimeout(timer);
  }, [runs, runId]);
  return useWatched(runs, (known) => (runId === undefined ? undefined : known.get(runId)));
}
