import type { LogHead } from "../../ports/session-log.ts";
import { retryStoreRequest } from "../log/retry-store-request.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import type { Deps } from "../setup/session-deps.ts";

/**
 * The lease of another node, as the store reported it last. While this process waits to take over, it only reads that lease, and claims the session
 * when the lease has expired.
 */
export interface RivalLease {
  /** True if the lease may still run: a claim would be refused. */
  mayRun(): boolean;
  /** Called when a claim was refused. */
  refused(remainingMs: number): void;
  /** Called when a claim has succeeded: no other lease is known. */
  forget(): void;
  /** True: reads the lease again and again, until it is gone or a read fails; then calls `onOver`. */
  setActive(isActive: boolean): void;
}

export function createRivalLease({ store, ref, clock, node }: Deps, onOver: () => void): RivalLease {
  let until = Number.NEGATIVE_INFINITY;
  let isActive = false;
  let isLooking = false;
  let cancel: (() => void) | undefined;

  const head = (): Promise<LogHead> =>
    retryStoreRequest(() => store.log.head(ref), { clock, staysFor: () => 0, answerMs: driverLimits.appendMs });

  async function look(): Promise<void> {
    cancel = undefined;
    isLooking = true;
    const lease = await head().then(
      (found) => found.lease,
      () => undefined,
    );
    isLooking = false;
    if (!isActive) return;
    if (lease && lease.node !== node) {
      until = clock.monotonic() + lease.remainingMs;
      plan();
      return;
    }
    until = Number.NEGATIVE_INFINITY;
    onOver();
  }

  function plan(): void {
    if (cancel || isLooking) return;
    const leftMs = until - clock.monotonic();
    const waitMs = Math.max(driverLimits.tailPollMs, Math.min(driverLimits.takeOverLookMs, leftMs));
    cancel = clock.after(waitMs, () => void look());
  }

  return {
    mayRun() {
      return until > clock.monotonic();
    },
    refused(remainingMs) {
      until = clock.monotonic() + remainingMs;
    },
    forget() {
      until = Number.NEGATIVE_INFINITY;
    },
    setActive(active) {
      isActive = active;
      if (active) plan();
      else {
        cancel?.();
        cancel = undefined;
      }
    },
  };
}
