import type { Fact, Observer, SessionRef } from "@loopwright/core";
import type { AuditRecord } from "./audit-entry.ts";
import type { AuditLog } from "./audit-log.ts";

/** Records who opened, decided, stopped, held, scheduled and erased, and what hooks denied. No text of a conversation is in it. */
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
    removed: (ref) => write(ref, { who: "system", what: "session.removed", session: ref.session }),
  };
}

function recordsOf(fact: Fact): readonly AuditRecord[] {
  const own = recordOf(fact);
  const verdicts = "verdicts" in fact ? (fact.verdicts ?? []) : [];
  const denied = verdicts.flatMap(({ hook, point, action, callKey }): readonly AuditRecord[] =>
    action === "deny" || action === "refuse" || action === "fail"
      ? [{ who: "system", what: "hook.denied", verdict: action, detail: { hook, point, ...(callKey === undefined ? {} : { callKey }) } }]
      : [],
  );
  return [...(own ? [own] : []), ...denied];
}

function recordOf(fact: Fact): AuditRecord | undefined {
  switch (fact.type) {
    case "session.opened":
      return { who: fact.participants?.[0] ?? "system", what: fact.type, detail: { agent: fact.agent } };
    case "approval.requested":
      return { who: "system", what: fact.type, detail: { runId: fact.runId, callKey: fact.callKey, argsDigest: fact.argsDigest } };
    case "approval.decided":
      return decided(fact);
    case "abort.requested":
      return { who: fact.by ?? "system", what: fact.type, detail: { runId: fact.runId } };
    case "hold.changed":
      return { who: fact.by ?? "unknown", what: fact.type, verdict: fact.held ? "held" : "lifted" };
    case "schedule.set":
    case "schedule.cleared":
      return { who: fact.by ?? "unknown", what: fact.type, detail: { schedule: fact.schedule } };
    case "session.changed":
      return fact.retention
        ? { who: "unknown", what: "retention.changed", detail: { keepMs: String(fact.retention.keepMs ?? "forever") } }
        : undefined;
    case "session.closed":
      return { who: "system", what: fact.type, verdict: fact.erase ? "erase" : "close" };
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
  return { who: by, what: "approval.decided", verdict: decision, detail: { runId, callKey, edited: String(args !== undefined), ...seen } };
}
