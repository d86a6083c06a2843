import type { ReachOf } from "@loopwright/telemetry";

/** True for callers that administer their scope: those of this machine's own token, services, and those with the role `admin`. */
export const isOperator = ({ trusted, roles = [] }: { readonly trusted?: boolean; readonly roles?: readonly string[] }): boolean =>
  trusted === true || roles.includes("admin") || roles.includes("service");

/** Callers with a token of the server see the figures of all scopes, those that administer a scope its own, and all others what they have used themselves. */
export const reachOf: ReachOf = (principal) => (principal.trusted ? "all" : isOperator(principal) ? "scope" : "user");
