import type { AgentError } from "@loopwright/core/protocol";
import { useCallback, useEffect, useState } from "react";
import { errorOf } from "./notices.ts";

/** What a server has answered so far. */
export interface Answer<T> {
  readonly value: T | undefined;
  readonly error: AgentError | undefined;
  readonly isLoading: boolean;
  /** Asks again; what is shown stays until the answer is there. */
  reload(): void;
}

/** Asks when it is first shown, and whenever `ask` is another function: keep it with `useCallback`. The newest question wins. */
export function useAnswer<T>(ask: (signal: AbortSignal) => Promise<T>): Answer<T> {
  const [shown, setShown] = useState<Omit<Answer<T>, "reload">>({ value: undefined, error: undefined, isLoading: true });
  const [round, setRound] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each round asks again
  useEffect(() => {
    const asking = new AbortController();
    setShown((before) => ({ ...before, isLoading: true }));
    ask(asking.signal).then(
      (value) => asking.signal.aborted || setShown({ value, error: undefined, isLoading: false }),
      (caught: unknown) => asking.signal.aborted || setShown((before) => ({ ...before, error: errorOf(caught), isLoading: false })),
    );
    return () => asking.abort();
  }, [ask, round]);
  return { ...shown, reload: useCallback(() => setRound((count) => count + 1), []) };
}
