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
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, []);
  const elapsedMs = now - since;
  if (elapsedMs < afterMs) return null;
  return <span className="elapsed">{durationLabel(Math.floor(elapsedMs / tickMs) * tickMs)}</span>;
}
