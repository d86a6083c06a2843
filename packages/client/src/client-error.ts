/*
 * An `AgentError` like any other, but without the table of codes: the table is larger than the rest of what talks to a server, and what
 * a server says of an error comes with its own words.
 */
import type { AgentError, AgentErrorOptions, ErrorCode } from "@loopwright/core/protocol";

const brand = Symbol.for("@loopwright/error");

class ClientError extends Error implements AgentError {
  override readonly name = "AgentError";
  readonly code: ErrorCode;
  readonly fix: string;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly details: AgentError["details"];
  readonly runId: string | undefined;

  constructor(code: ErrorCode, options: AgentErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    Object.defineProperty(this, brand, { value: true });
    this.code = code;
    this.fix = options.fix ?? "See the message.";
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.details = options.details;
    this.runId = options.runId;
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

/** The error that a problem document tells of, with the code as the server sent it; `undefined` where it is none. */
export function errorFromDocument(json: unknown, more: Partial<AgentErrorOptions> = {}): AgentError | undefined {
  if (typeof json !== "object" || json === null || !("code" in json)) return undefined;
  const { code, detail, error, fix, retryable, retryAfterMs, runId } = json as { readonly [field: string]: unknown };
  const message = detail ?? error;
  if (typeof code !== "string" || typeof message !== "string") return undefined;
  return clientError(code as ErrorCode, {
    ...more,
    message,
    ...(typeof fix === "string" ? { fix } : {}),
    retryable: retryable === true,
    ...(typeof retryAfterMs === "number" ? { retryAfterMs } : {}),
    ...(typeof runId === "string" ? { runId } : {}),
  });
}
