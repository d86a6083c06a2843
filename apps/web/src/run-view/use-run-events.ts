import type { AgentError, DurableEvent } from "@loopwright/core/protocol";
import { useEffect, useRef, useState } from "react";
import { errorOf } from "../app/notices.ts";
import type { RunViewProps } from "../conversation/conversation-actions.ts";

/** While a run is open its events are asked for at most this often. */
const askedEveryMs = 1000;

export interface RunEvents {
  readonly events?: readonly DurableEvent[];
  readonly error?: AgentError;
  /** Asks again. */
  readonly retry: () => void;
}

/** The events of a run; asked for again when the session has gone on meanwhile. */
export function useRunEvents({ runId, view, load }: Omit<RunViewProps, "onClose">): RunEvents {
  const [state, setState] = useState<Pick<RunEvents, "events" | "error">>({});
  const [round, setRound] = useState(0);
  const askedAt = useRef(0);
  const isDone = state.events?.at(-1)?.type === "run_end";
  // A run that is done has sent all its events.
  const cursor = isDone ? "" : view.cursor;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new cursor or round is the reason to ask again
  useEffect(() => {
    if (isDone && round === 0) return;
    const controller = new AbortController();
    const ask = async (): Promise<void> => {
      askedAt.current = Date.now();
      try {
        const events = await load(runId, controller.signal);
        if (!controller.signal.aborted) setState({ events });
      } catch (caught) {
        if (!controller.signal.aborted) setState((before) => ({ ...before, error: errorOf(caught) }));
      }
    };
    const timer = setTimeout(() => void ask(), Math.max(0, askedAt.current + askedEveryMs - Date.now()));
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [runId, cursor, round, load]);
  return { ...state, retry: () => setRound((count) => count + 1) };
}
