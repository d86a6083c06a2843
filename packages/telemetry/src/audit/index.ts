/** An append-only log of the actions of users, one hash chain for each scope, in any store. */
export type { AuditEntry, AuditRecord } from "./audit-entry.ts";
export { type AuditLog, type AuditLogOptions, auditLog } from "./audit-log.ts";
export { auditObserver } from "./audit-observer.ts";
export { auditScope } from "./audit-segments.ts";
export { type AuditedPrincipal, type AuthorizeRule, auditedAuthorize } from "./audited-authorize.ts";
export type { AuditVerdict } from "./verify-chain.ts";
