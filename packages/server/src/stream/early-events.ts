import type { AgentSession } from "@loopwright/core";
import type { SessionEvent } from "@loopwright/core/protocol";

/** What is told of a session while an input is on its way into the log: its run may speak before anybody knows its id. */
export interface EarlyEvents {
  /** The events of the run so far, once; `undefined` where something was being said already. Nothing is heard from then on. */
  take(runId: string): readonly SessionEvent[] | undefined;
  stop(): void;
}

/** Begins to listen. */
export function hearEarlyEvents(session: AgentSession): EarlyEvents {
  /** A lane that is open already has said things that nobody heard here. */
  const isWhole = session.lanes().length === 0;
  const heard: { readonly events: readonly SessionEvent[]; readonly runId: string | undefined }[] = [];
  let isOver = false;
  const leave = session.follow({ events: (events, runId) => heard.push({ events: [...events], runId }) });
  const stop = (): void => {
    isOver = true;
    leave();
  };
  return {
    stop,
    take(runId) {
      if (isOver) return undefined;
      stop();
      return isWhole ? heard.flatMap((one) => (one.runId === runId ? one.events : [])) : undefined;
    },
  };
}
