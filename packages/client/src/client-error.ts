/*
 * An `AgentError` without the table of codes: the table is larger than the rest of the request code, and an error of a server brings its own
 * message and fix.
 */
import type { AgentError, AgentErrorOptions, ErrorCode, Problem } from "@loopwright/core/protocol";

const brand = Symbol.for("@loopwright/error");

class ClientError extends Error implements AgentError {
  override readonly name = "AgentError";
  readonly code: ErrorCode;
  declare readonly fix: string;
  declare readonly retryable: boolean;
  declare readonly retryAfterMs: number | undefined;
  declare readonly details: AgentError["details"];
  declare readonly runId: string | undefined;

  constructor(code: ErrorCode, { message, cause, ...more }: AgentErrorOptions) {
    super(message, { cause });
    Object.defineProperty(this, brand, { value: true });
    this.code = code;
    Object.assign(this, { fix: "See the message.", retryable: false }, more);
  }
}

/** An error that `isAgentError` of any copy of core takes for one. */
export function clientError(code: ErrorCode, options: AgentErrorOptions): AgentError {
  return new ClientError(code, options);
}

/** True for an `AgentError` of any copy of core or of this package. */
export function isKnownError(error: unknown): error is AgentError {
  return typeof error === "object" && error !== null && brand in error;
}

/** The connection could not be made, or broke. */
export function unreachable(address: string, cause?: unknown): AgentError {
  return clientError("SERVER_UNREACHABLE", {
    message: `The server at ${address || "this origin"} does not answer.`,
    fix: "Check the address and that the server runs.",
    retryable: true,
    cause,
  });
}

/** The error that a problem document describes, with the code as the server sent it; `undefined` for any other JSON. */
export function errorFromDocument(json: unknown, more: Partial<AgentErrorOptions>): AgentError | undefined {
  const {
    code,
    detail: message,
    fix,
    retryable,
    retryAfterMs = more.retryAfterMs,
    runId = more.runId,
    details,
  } = (json ?? {}) as Partial<Problem>;
  if (typeof code !== "string" || typeof message !== "string") return undefined;
  return clientError(code as ErrorCode, {
    ...more,
    message,
    fix,
    retryable,
    retryAfterMs,
    runId,
    details: { ...more.details, ...details },
  });
}
