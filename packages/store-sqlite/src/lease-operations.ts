import type { ClaimOutcome, LogHead, SessionRef } from "@loopwright/core/ports";
import { dropLease } from "./log-operations.ts";
import type { Ask } from "./operation.ts";
import { isDead, ownIdentity, type ProcessIdentity } from "./process-identity.ts";
import { findSession, openSession, type SessionRow } from "./session-rows.ts";
import type { Statements } from "./statements.ts";

let identity: ProcessIdentity | undefined;

function own(): ProcessIdentity {
  identity ??= ownIdentity();
  return identity;
}

/** True when the process of this identity, as a lease names it, cannot be alive. */
export function isDeadOwner(owner: string): boolean {
  return isDead(owner, own());
}

/** How far the clocks of two threads that were given one may be apart. */
const skewMsMax = 1_000;

/**
 * Milliseconds since the machine was started: the same for all its processes, and no hand can set it. Read while the
 * transaction holds the file, so that of two claims the later one has the later time.
 */
export function machineMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** The tail, the epoch and the lease where one runs. */
export function head(statements: Statements, { ref, now = machineMs() }: Ask<"head">): LogHead {
  const session = findSession(statements, ref);
  const lease = session && runningLease(session, now);
  return { lastSeq: session?.lastSeq ?? 0, epoch: session?.epoch ?? 0, ...(lease ? { lease } : {}) };
}

export function claim(statements: Statements, { ref, node, leaseMs, now = machineMs() }: Ask<"claim">): ClaimOutcome {
  const session = openSession(statements, ref);
  const lease = runningLease(session, now);
  if (lease && lease.node !== node) return { type: "held", ...lease };
  const epoch = session.epoch + 1;
  statements.run(
    "UPDATE sessions SET epoch = ?, lease_node = ?, lease_until = ?, lease_ms = ?, lease_owner = ? WHERE key = ?",
    ...[epoch, node, Math.ceil(now + leaseMs), Math.ceil(leaseMs), JSON.stringify(own()), session.key],
  );
  return { type: "claimed", epoch, lastSeq: session.lastSeq };
}

export function renew(statements: Statements, { ref, epoch, leaseMs, now = machineMs() }: Ask<"renew">): boolean {
  const session = findSession(statements, ref);
  if (!session?.lease || session.epoch !== epoch) return false;
  statements.run(
    "UPDATE sessions SET lease_until = ?, lease_ms = ? WHERE key = ?",
    Math.ceil(now + leaseMs),
    Math.ceil(leaseMs),
    session.key,
  );
  return true;
}

export function release(statements: Statements, ref: SessionRef, epoch: number): void {
  const session = findSession(statements, ref);
  if (session?.epoch === epoch) dropLease(statements, session.key);
}

/**
 * The lease, unless its time is over or its owner is dead. More time than a lease is given means that the clock began
 * anew since: the machine was restarted.
 */
export function runningLease(
  { lease }: Pick<SessionRow, "lease">,
  now: number,
): { readonly node: string; readonly remainingMs: number } | undefined {
  if (!lease) return undefined;
  const remainingMs = lease.until - now;
  const mayRun = remainingMs > 0 && remainingMs <= lease.leaseMs + skewMsMax;
  return mayRun && !isDead(lease.owner, own()) ? { node: lease.node, remainingMs } : undefined;
}
