import { useEffect, useState } from "react";
import { useServices } from "../app/services.ts";
import { type OpenSession, openSession, type SessionState } from "./open-session.ts";

/** A session that is not open yet. */
const loading: SessionState = { phase: "loading", connection: "live" };

/** How long a hidden page keeps the connection of a session in which nothing happens. */
const hiddenMs = 60_000;

/** The session, open as long as it is rendered. Needs a `key` per session: the id is not to change. */
export function useOpenSession(sessionId: string): OpenSession {
  const { client } = useServices();
  const [session, setSession] = useState<OpenSession>(() => unopened(sessionId));
  useEffect(() => {
    const opened = openSession(client, sessionId);
    const leave = minded(opened);
    setSession(opened);
    return () => {
      leave();
      opened.close();
    };
  }, [client, sessionId]);
  return session;
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

function unopened(sessionId: string): OpenSession {
  const nothing = (): void => undefined;
  return { sessionId, read: () => loading, subscribe: () => nothing, rest: nothing, retry: nothing, close: nothing };
}
