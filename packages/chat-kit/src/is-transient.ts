import { isAgentError } from "@loopwright/core/protocol";

/** True for an error of the server or on the way to it, after which the same request may succeed. */
export function isTransient(error: unknown): boolean {
  if (!isAgentError(error)) return false;
  return error.retryable || Number(error.details?.["status"]) >= 500;
}
