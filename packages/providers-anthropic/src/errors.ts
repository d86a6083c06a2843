import type { AgentError } from "@loopwright/core";
import { isAgentError } from "@loopwright/core";
import { errorFromFetch, errorFromStatus, vendorErrorOf } from "@loopwright/provider-kit";
import { vendorName } from "./options.ts";

/** The SDK's `APIError`, by shape: the SDK is not loaded for this. */
interface StatusError {
  readonly status: number;
  readonly headers?: unknown;
  readonly error?: unknown;
  readonly message?: string;
}

/**
 * What to throw for anything that a call threw: the signal's reason when it was aborted, else an AgentError. The SDK hides
 * the transport's own error behind `APIConnectionError` and an abort behind `APIUserAbortError`.
 */
export function errorOf(error: unknown, context: { signal: AbortSignal; secrets: readonly string[]; streaming: boolean }): unknown {
  if (context.signal.aborted) return context.signal.reason;
  if (isAgentError(error)) return error;
  if (isStatusError(error)) return statusErrorOf(error, context.secrets);
  const cause = isConnectionError(error) && error.cause !== undefined ? error.cause : error;
  return errorFromFetch(cause, { provider: vendorName, signal: context.signal, ...(context.streaming ? { streaming: true } : {}) });
}

function statusErrorOf(error: StatusError, secrets: readonly string[]): AgentError {
  // A body that was no JSON is only in the SDK's message, behind the status.
  const body = error.error ?? error.message?.replace(/^\d{3} /, "") ?? "";
  return errorFromStatus({
    provider: vendorName,
    ...vendorErrorOf(body),
    status: error.status,
    secrets,
    ...(error.headers instanceof Headers ? { headers: error.headers } : {}),
  });
}

function isStatusError(error: unknown): error is StatusError {
  return typeof error === "object" && error !== null && "status" in error && typeof error.status === "number";
}

function isConnectionError(error: unknown): error is Error {
  return error instanceof Error && error.name.startsWith("APIConnection");
}
