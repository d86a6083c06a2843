import type { DueSession } from "@loopwright/core/ports";
import { isDeadOwner, machineMs, runningLease } from "./lease-operations.ts";
import type { Ask } from "./operation.ts";
import { findSession, leaseColumns, leaseOf } from "./session-rows.ts";
import { numberOf, type Row, type Statements, textOf } from "./statements.ts";

/** Sessions whose date has come and that have no owner, by date, scope and id. */
export function due(statements: Statements, { now, limit, after, machineNow = machineMs() }: Ask<"due">): readonly DueSession[] {
  if (limit <= 0) return [];
  // What comes before every session: dates may be of before 1970.
  const { ref, due: from } = after ?? { ref: { scope: "", session: "" }, due: Number.MIN_SAFE_INTEGER };
  const place = [now, from, ref.scope, ref.session];
  const free = statements.all(
    `SELECT due, scope, id FROM sessions INDEXED BY sessions_free WHERE due <= ? AND lease_node IS NULL AND (due, scope, id) > (?, ?, ?)
     ORDER BY due, scope, id LIMIT ?`,
    ...[...place, limit],
  );
  return [...free, ...leftBehind(statements, place, machineNow)].map(dueSessionOf).sort(byDate).slice(0, limit);
}

const held = "due IS NOT NULL AND lease_node IS NOT NULL";

/** Sessions whose lease is over, or whose owner is dead: those that a lease holds are not looked at one by one. */
function leftBehind(statements: Statements, place: readonly (string | number)[], machineNow: number): readonly Row[] {
  const those = (index: string, condition: string, ...values: readonly (string | number)[]): readonly Row[] =>
    statements.all(
      `SELECT due, scope, id, ${leaseColumns} FROM sessions INDEXED BY ${index} WHERE ${held} AND ${condition} AND due <= ? AND (due, scope, id) > (?, ?, ?)`,
      ...[...values, ...place],
    );
  const rows = owners(statements).flatMap((owner) =>
    isDeadOwner(owner)
      ? those("sessions_held", "lease_owner = ?", owner)
      : those("sessions_held", "lease_owner = ? AND lease_until <= ?", owner, machineNow),
  );
  // Renewed in the future: the clock began anew since.
  const renewed = those("sessions_renewed", "lease_until - lease_ms > ?", machineNow);
  const found = new Map([...rows, ...renewed].map((row) => [`${textOf(row, "scope")}/${textOf(row, "id")}`, row]));
  return [...found.values()].filter((row) => !runningLease({ lease: leaseOf(row) }, machineNow));
}

/** The processes that hold sessions with a date, each once. */
function owners(statements: Statements): readonly string[] {
  const found: string[] = [];
  const next = `SELECT lease_owner FROM sessions INDEXED BY sessions_held WHERE ${held} AND lease_owner > ? ORDER BY lease_owner LIMIT 1`;
  for (let owner = ""; ; found.push(owner)) {
    const row = statements.one(next, owner);
    if (!row) return found;
    owner = textOf(row, "lease_owner") ?? "";
  }
}

function dueSessionOf(row: Row): DueSession {
  return { ref: { scope: textOf(row, "scope") ?? "", session: textOf(row, "id") ?? "" }, due: numberOf(row, "due") };
}

function byDate(a: DueSession, b: DueSession): number {
  return a.due - b.due || order(a.ref.scope, b.ref.scope) || order(a.ref.session, b.ref.session);
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Corrects the date of a session that still ends where its reader has seen it. */
export function setDue(statements: Statements, { ref, expectedSeq, due: date }: Ask<"setDue">): void {
  const session = findSession(statements, ref);
  if (session && !session.isRemoved && session.lastSeq === expectedSeq)
    statements.run("UPDATE sessions SET due = ? WHERE key = ?", date, session.key);
}
