import type { ClaimOutcome, Clock, SessionLog, SessionRef } from "@loopwright/core/ports";
import { checkedRef } from "@loopwright/core/stores";
import type { Database, Row } from "./database.ts";
import { openSession, sessionOf } from "./rows.ts";

/** The lease of a session's owner. A claim raises the epoch, and the log refuses appends with an older one. */
export function acmeLeases(database: Database, clock: Clock): Pick<SessionLog, "head" | "claim" | "renew" | "renewAll" | "release"> {
  return {
    head: (ref) =>
      database.atomically(() => {
        const row = sessionOf(database, ref);
        const lease = row && runningLease(row, clock);
        return { lastSeq: Number(row?.["last_seq"] ?? 0), epoch: Number(row?.["epoch"] ?? 0), ...(lease ? { lease } : {}) };
      }),
    claim: (ref, { node, leaseMs }) =>
      database.atomically((): ClaimOutcome => {
        const row = openSession(database, checkedRef(ref));
        const lease = runningLease(row, clock);
        if (lease && lease.node !== node) return { type: "held", ...lease };
        const epoch = Number(row["epoch"]) + 1;
        const { scope, session } = ref;
        database.run(
          "UPDATE sessions SET epoch = ?, node = ?, lease_until = ? WHERE scope = ? AND id = ?",
          epoch,
          node,
          clock.now() + leaseMs,
          scope,
          session,
        );
        return { type: "claimed", epoch, lastSeq: Number(row["last_seq"]) };
      }),
    renew: (ref, lease) => database.atomically(() => renewOne(database, clock, { ref, ...lease })),
    renewAll: (renewals) => database.atomically(() => renewals.map((renewal) => renewOne(database, clock, renewal))),
    release: ({ scope, session }, epoch) =>
      database.atomically(() =>
        database.run("UPDATE sessions SET node = NULL, lease_until = NULL WHERE scope = ? AND id = ? AND epoch = ?", scope, session, epoch),
      ),
  };
}

interface Renewal {
  readonly ref: SessionRef;
  readonly epoch: number;
  readonly leaseMs: number;
}

function renewOne(database: Database, clock: Clock, { ref, epoch, leaseMs }: Renewal): boolean {
  const row = sessionOf(database, ref);
  if (row === undefined || row["node"] === null || row["epoch"] !== epoch) return false;
  database.run("UPDATE sessions SET lease_until = ? WHERE scope = ? AND id = ?", clock.now() + leaseMs, ref.scope, ref.session);
  return true;
}

/** By the clock of the machine with the file: all processes that have it open are on this machine. */
function runningLease(row: Row, clock: Clock): { readonly node: string; readonly remainingMs: number } | undefined {
  const remainingMs = Number(row["lease_until"] ?? 0) - clock.now();
  return row["node"] !== null && remainingMs > 0 ? { node: String(row["node"]), remainingMs } : undefined;
}
