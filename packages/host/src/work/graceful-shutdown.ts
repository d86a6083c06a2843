import type { Clock } from "@loopwright/core/ports";
import type { HostLimits } from "../options/host-limits.ts";
import type { CloseOptions, SessionHost } from "../sessions/session-host.ts";
import type { Work } from "./take-hints-and-sweep.ts";

export interface HandOverOptions {
  /** How long open runs may take to end. Default `limits.drainMs`. */
  readonly withinMs?: number;
}

/** How a process shuts down: it takes no new work, gives open runs time to end, and hands over the runs that have not ended. */
export interface GracefulShutdown {
  readonly isReady: boolean;
  drain(): void;
  /** Drains; resolves when nothing runs here or the time is up. */
  rest(options?: HandOverOptions): Promise<void>;
  /** Resolves with the number of sessions that ran here and are left to other processes. A second call returns the same promise. */
  close(options?: CloseOptions): Promise<number>;
}

export interface ShutdownParts {
  readonly host: SessionHost;
  /** Absent: nothing runs here. */
  readonly work: Work | undefined;
  readonly clock: Clock;
  readonly limits: Pick<HostLimits, "drainMs">;
  /** Called before the sessions are released. */
  readonly first: () => void;
}

/** The interval between two looks at the runs that may end. */
const lookMs = 50;

export function createGracefulShutdown({ host, work, clock, limits, first }: ShutdownParts): GracefulShutdown {
  let isReady = true;
  let stopped: Promise<void> | undefined;
  let closing: Promise<number> | undefined;

  function drain(): void {
    isReady = false;
    stopped ??= work?.stop();
  }

  async function end(options: CloseOptions | undefined): Promise<number> {
    drain();
    first();
    const { ran, left } = await host.close(options);
    // A hint in progress may wait for a slow store; the next owner is woken without waiting for it.
    await Promise.all([work?.leave(left), stopped]);
    return ran;
  }

  return {
    get isReady() {
      return isReady;
    },
    drain,
    async rest({ withinMs = limits.drainMs } = {}) {
      drain();
      const until = clock.monotonic() + withinMs;
      while (host.running > 0 && clock.monotonic() < until) await new Promise<void>((resolve) => void clock.after(lookMs, resolve));
    },
    close(options) {
      closing ??= end(options);
      return closing;
    },
  };
}
