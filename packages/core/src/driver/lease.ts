import type { Clock } from "../ports/clock.ts";
import type { SessionLog, SessionRef } from "../ports/session-log.ts";

/** A held claim on a session, renewed until it is dropped or lost. */
export interface Lease {
  readonly epoch: number;
  /** Stops renewing; the log is not told. */
  drop(): void;
}

export interface LeaseOptions {
  readonly log: SessionLog;
  readonly ref: SessionRef;
  readonly clock: Clock;
  readonly node: string;
  readonly leaseMs: number;
  /** Another may have taken over: nothing may be done under this epoch any more. */
  readonly onLost: () => void;
}

/** Share of the lease after which an unconfirmed owner stops by itself, and the share after which it renews. */
const shares = { stop: 0.8, renew: 1 / 3 };

/** The lease and where the log ended when it was claimed; `undefined` while another holds it. */
export async function claimLease(options: LeaseOptions): Promise<{ readonly lease: Lease; readonly lastSeq: number } | undefined> {
  const { log, ref, clock, node, leaseMs } = options;
  const askedAt = clock.monotonic();
  const outcome = await log.claim(ref, { node, leaseMs });
  if (outcome.type === "held") return undefined;
  return { lease: keep(options, outcome.epoch, askedAt), lastSeq: outcome.lastSeq };
}

/** Time counts from before a renewal is sent, on the monotonic clock: a paused process finds its lease over, whatever the wall clock says. */
function keep({ log, ref, clock, leaseMs, onLost }: LeaseOptions, epoch: number, claimedAt: number): Lease {
  let isHeld = true;
  let cancelRenewal = (): void => {};
  let cancelStop = (): void => {};
  const drop = (): void => {
    isHeld = false;
    cancelRenewal();
    cancelStop();
  };
  const lose = (): void => {
    if (!isHeld) return;
    drop();
    onLost();
  };
  /** Runs also while a renewal is on its way: a store that never answers must not keep an owner at work. */
  const stopAfter = (confirmedAt: number): void => {
    cancelStop();
    const leftMs = confirmedAt + leaseMs * shares.stop - clock.monotonic();
    cancelStop = clock.after(Math.max(0, leftMs), lose, { idle: true });
  };
  const renew = async (): Promise<void> => {
    const sentAt = clock.monotonic();
    const isRenewed = await log.renew(ref, { epoch, leaseMs }).catch(() => undefined);
    if (!isHeld) return;
    if (isRenewed === false) return lose();
    if (isRenewed) stopAfter(sentAt);
    planRenewal();
  };
  const planRenewal = (): void => {
    cancelRenewal = clock.after(leaseMs * shares.renew, () => void renew(), { idle: true });
  };
  stopAfter(claimedAt);
  planRenewal();
  return { epoch, drop };
}
