export type StopSignal = "SIGINT" | "SIGTERM";

/** A signal that follows another within this time is the same wish: a terminal, npm and a wrapper each pass Ctrl+C on. */
const sameWishMs = 400;

/** The callers that wait for the process to be asked to end. */
export interface StopSignals {
  /** Resolves at the first signal. A later one ends the process at once, with the exit code that shells give to such a death. */
  readonly first: Promise<StopSignal>;
  /** Hands the signals back to the system. */
  ignore(): void;
}

/** Listens for SIGINT, SIGTERM and SIGHUP; the last counts as SIGTERM. `now` is in milliseconds. */
export function stopSignals(now: () => number = () => performance.now()): StopSignals {
  let askedAt: number | undefined;
  let resolveFirst: (signal: StopSignal) => void = () => {};
  const first = new Promise<StopSignal>((resolve) => {
    resolveFirst = resolve;
  });
  const listeners = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((name) => {
    const signal: StopSignal = name === "SIGINT" ? "SIGINT" : "SIGTERM";
    const received = (): void => {
      if (askedAt === undefined) {
        askedAt = now();
        resolveFirst(signal);
      } else if (now() - askedAt > sameWishMs) process.exit(signal === "SIGINT" ? 130 : 143);
    };
    process.on(name, received);
    return { name, received };
  });
  return {
    first,
    ignore() {
      for (const { name, received } of listeners) process.off(name, received);
    },
  };
}
