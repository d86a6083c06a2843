import type { Fact, Observer, SessionRef } from "@loopwright/core";
import type { AuditRecord } from "./audit-entry.ts";
import type { AuditLog } from "./audit-log.ts";

/**
 * Records sessions that were opened, closed and removed, approvals, aborts, holds, schedules, changes of retention, and what hooks denied; with the
 * user where the fact names one. No text of a conversation is in it.
 */
export function auditObserver(audit: Pick<AuditLog, "record">): Observer {
  const write = ({ scope }: SessionRef, record: AuditRecord): void => {
    // The log of the audit reports what it could not write.
    audit.record(scope, record).catch(() => {});
  };
  return {
    facts(ref, facts) {
      for (const fact of facts)
        recordsOf(fact).forEach(
          (record, place) => void write(ref, { ...record, session: ref.session, id: `${ref.session}/${fact.seq}.${place}` }),
        );
    },
    // Two nodes may complete one removal: the id makes it one entry. No later session has the same id.
    removed: (ref) => write(ref, { user: "system", action: "session.removed", session: ref.session, id: `${ref.session}/removed` }),
  };
}

function recordsOf(fact: Fact): readonly AuditRecord[] {
  const own = recordOf(fact);
  const verdicts = "verdicts" in fact ? (fact.verdicts ?? []) : [];
  const denied = verdicts.flatMap(({ hook, point, action, callKey }): readonly AuditRecord[] =>
    action === "deny" || action === "refuse" || action === "fail"
      ? [{ user: "system", action: "hook.denied", verdict: action, detail: { hook, point, ...(callKey === undefined ? {} : { callKey }) } }]
      : [],
  );
  return [...(own ? [own] : []), ...denied];
}

function recordOf(fact: Fact): AuditRecord | undefined {
  switch (fact.type) {
    case "session.opened":
      return { user: fact.participants?.[0] ?? "system", action: fact.type, detail: { agent: fact.agent } };
    case "approval.requested":
      return { user: "system", action: fact.type, detail: { runId: fact.runId, callKey: fact.callKey, argsDigest: fact.argsDigest } };
    case "approval.decided":
      return decided(fact);
    case "abort.requested":
      return { user: fact.by ?? "system", action: fact.type, detail: { runId: fact.runId } };
    case "hold.changed":
      return { user: fact.by ?? "unknown", action: fact.type, verdict: fact.held ? "held" : "lifted" };
    case "schedule.set":
    case "schedule.cleared":
      // Without a user: the runtime itself skipped a date that was missed.
      return { user: fact.by ?? "system", action: fact.type, detail: { schedule: fact.schedule } };
    case "session.changed":
      return fact.retention
        ? { user: "unknown", action: "retention.changed", detail: { keepMs: String(fact.retention.keepMs ?? "forever") } }
        : undefined;
    case "session.closed":
      return { user: "system", action: fact.type, verdict: fact.erase ? "erase" : "close" };
    default:
      return undefined;
  }
}

function decided({
  by = "unknown",
  decision,
  runId,
  callKey,
  args,
  argsDigest,
  child,
}: Extract<Fact, { readonly type: "approval.decided" }>): AuditRecord {
  const seen = { ...(argsDigest === undefined ? {} : { argsDigest }), ...(child ? { child: child.session } : {}) };
  return {
    user: by,
    action: "approval.decided",
    verdict: decision,
    detail: { runId, callKey, edited: String(args !== undefined), ...seen },
  };
}
