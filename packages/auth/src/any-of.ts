import { isAgentError } from "@loopwright/core";
import type { Authenticate } from "@loopwright/server";

/**
 * The principal of the first authenticator that knows the caller. One that gives no verdict for now does not keep the others from answering; if none of them knows the
 * caller, its error is the answer. Every other error is passed on at once.
 */
export function anyOf(authenticators: readonly Authenticate[]): Authenticate {
  return async (request, caller) => {
    let unanswered: unknown;
    for (const authenticate of authenticators) {
      try {
        const principal = await authenticate(request, caller);
        if (principal) return principal;
      } catch (error) {
        if (!isAgentError(error) || !error.retryable) throw error;
        unanswered ??= error;
      }
    }
    if (unanswered !== undefined) throw unanswered;
    return undefined;
  };
}
