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

interface StopSignalOptions {
  /** Called at each SIGHUP. Absent: it counts as SIGTERM, as where a terminal is closed. */
  readonly onHangUp?: (() => void) | undefined;
  /** In milliseconds. */
  readonly now?: () => number;
}

/** Listens for SIGINT, SIGTERM and SIGHUP. */
export function stopSignals({ onHangUp, now = () => performance.now() }: StopSignalOptions = {}): StopSignals {
  let askedAt: number | undefined;
  let resolveFirst: (signal: StopSignal) => void = () => {};
  const first = new Promise<StopSignal>((resolve) => {
    resolveFirst = resolve;
  });
  const listeners = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((name) => {
    const signal: StopSignal = name === "SIGINT" ? "SIGINT" : "SIGTERM";
    const received = (): void => {
      if (name === "SIGHUP" && onHangUp) onHangUp();
      else if (askedAt === undefined) {
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
