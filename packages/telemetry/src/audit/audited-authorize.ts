import type { AuditLog } from "./audit-log.ts";
import { auditScope } from "./audit-segments.ts";

/** What is known of a caller. */
export interface AuditedPrincipal {
  readonly user: string;
  readonly scope: string;
}

/** As `authorize` of a server. */
export type AuthorizeRule<Principal extends AuditedPrincipal, Action extends string> = (
  principal: Principal,
  action: Action,
  session: string | undefined,
) => boolean | Promise<boolean>;

/** Actions that are recorded also where they are permitted. */
const recorded: ReadonlySet<string> = new Set([
  "session.remove",
  "session.hold",
  "session.share",
  "session.decide",
  "session.change",
  "session.schedule",
]);

/**
 * The same rule, which records what it refuses, and what it permits where that removes, holds, decides or changes something. Refuses callers whose
 * scope is that of the audit log: its chains would be their sessions.
 */
export function auditedAuthorize<Principal extends AuditedPrincipal, Action extends string>(
  audit: Pick<AuditLog, "record">,
  rule: AuthorizeRule<Principal, Action> = () => true,
): AuthorizeRule<Principal, Action> {
  return async (principal, action, session) => {
    const isPermitted = principal.scope !== auditScope && (await rule(principal, action, session)) === true;
    if (!isPermitted || recorded.has(action)) {
      const about = session === undefined ? {} : { session };
      const record = { user: principal.user, action: action, verdict: isPermitted ? "permitted" : "refused", ...about };
      audit.record(principal.scope, record).catch(() => {});
    }
    return isPermitted;
  };
}
