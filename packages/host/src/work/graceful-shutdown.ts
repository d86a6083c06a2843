import type { Clock } from "@loopwright/core/ports";
import type { HostLimits } from "../options/host-limits.ts";
import type { CloseOptions, SessionHost } from "../sessions/session-host.ts";
import type { Work } from "./run-work.ts";

export interface HandOverOptions {
  /** How long what runs may take to come to rest. Default `limits.drainMs`. */
  readonly withinMs?: number;
}

/** How a process goes: it takes nothing new, gives what runs its time, and hands the rest over. */
export interface GracefulShutdown {
  readonly isReady: boolean;
  drain(): void;
  /** Drains; resolves when nothing runs here, or time is up. */
  rest(options?: HandOverOptions): Promise<void>;
  /** Resolves with how many sessions are left to others. Twice is once. */
  close(options?: CloseOptions): Promise<number>;
}

export interface ShutdownParts {
  readonly host: SessionHost;
  /** Absent: nothing runs here. */
  readonly work: Work | undefined;
  readonly clock: Clock;
  readonly limits: Pick<HostLimits, "drainMs">;
  /** What goes before the sessions. */
  readonly first: () => void;
}

/** How often it is looked whether what may end has ended. */
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
