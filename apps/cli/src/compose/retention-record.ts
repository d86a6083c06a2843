import type { AuditRecord } from "@loopwright/telemetry/audit";
import type { RetentionChange, RetentionOfScope } from "@loopwright/user-settings";

/** The entry of the audit log about the user that has changed how long the sessions of a scope are kept, from which time and to which. */
export function retentionRecord({ before, after }: RetentionChange, user: string): AuditRecord {
  const text = ({ keepMs }: RetentionOfScope): string => String(keepMs ?? "forever");
  return { user, action: "scope.retention-changed", detail: { fromMs: text(before), toMs: text(after) } };
}
