import { type ReactNode, useEffect, useState } from "react";
import { durationLabel } from "./amount-labels.ts";

const tickMs = 1000;

export interface ElapsedProps {
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Nothing is shown before. */
  readonly afterMs?: number;
}

/** How long something takes so far, by the second. */
export function Elapsed({ since, afterMs = 1000 }: ElapsedProps): ReactNode {
  const elapsedMs = useNow() - since;
  if (elapsedMs < afterMs) return null;
  return <span className="elapsed">{durationLabel(Math.floor(elapsedMs / tickMs) * tickMs)}</span>;
}

/** In how long something will be, by the second. */
export function Remaining({ until }: { readonly until: number }): ReactNode {
  const remainingMs = until - useNow();
  return remainingMs < tickMs ? "now" : `in ${durationLabel(Math.ceil(remainingMs / tickMs) * tickMs)}`;
}

function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, []);
  return now;
}
