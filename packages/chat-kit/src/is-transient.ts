import { isAgentError } from "@loopwright/core/protocol";

/** True for an error after which the same request may succeed. A failure that the server does not mark so would hold back every chat. */
export function isTransient(error: unknown): boolean {
  return isAgentError(error) && error.retryable;
}

/** True for an error that lasts as long as a person or a team asks for too much: it must not hold back others. */
export function isLimit(error: unknown): boolean {
  return isAgentError(error, "RATE_LIMITED") || isAgentError(error, "RUN_LIMIT");
}
