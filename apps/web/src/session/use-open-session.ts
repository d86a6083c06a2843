import { useEffect, useState } from "react";
import { useServices } from "../app/services.ts";
import { type RunTraces, runTraces } from "../traces/run-traces.ts";
import { loadRun } from "./load-run.ts";
import { type OpenSession, openSession, type SessionSource, type SessionState } from "./open-session.ts";

/** An open session, and what its runs did beside its messages. */
export interface FollowedSession extends OpenSession {
  readonly traces: RunTraces;
}

/** A session that is not open yet. */
const loading: SessionState = { phase: "loading", connection: "live" };

/** How long a hidden page keeps the connection of a session in which nothing happens. */
const hiddenMs = 60_000;

/** The session, open as long as it is rendered. Needs a `key` per session: the id is not to change. */
export function useOpenSession(sessionId: string): FollowedSession {
  const { client } = useServices();
  const [session, setSession] = useState<FollowedSession>(() => unopened(sessionId));
  useEffect(() => {
    const traces = runTraces(loadRun(client, sessionId));
    const opened = openSession(tapped(client, traces), sessionId);
    const leave = minded(opened);
    setSession({ ...opened, traces });
    return () => {
      leave();
      traces.close();
      opened.close();
    };
  }, [client, sessionId]);
  return session;
}

/** The source whose events are shown to the traces, too. */
function tapped(source: SessionSource, traces: RunTraces): SessionSource {
  return {
    async *follow(sessionId, options) {
      for await (const batch of source.follow(sessionId, options)) {
        traces.take(batch);
        yield batch;
      }
    },
  };
}

/** Saves connections, of which a browser has few for one server, and uses the moments at which a lost one may come back. */
function minded(session: OpenSession): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onVisibility = (): void => {
    clearTimeout(timer);
    if (document.visibilityState === "visible") session.retry();
    else timer = setTimeout(session.rest, hiddenMs);
  };
  document.addEventListener("visibilitychange", onVisibility);
  addEventListener("online", session.retry);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", onVisibility);
    removeEventListener("online", session.retry);
  };
}

function unopened(sessionId: string): FollowedSession {
  const nothing = (): void => undefined;
  return {
    sessionId,
    read: () => loading,
    subscribe: () => nothing,
    rest: nothing,
    retry: nothing,
    close: nothing,
    traces: runTraces(async () => []),
  };
}
