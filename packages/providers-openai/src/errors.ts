import { AgentError } from "@loopwright/core";
import { errorFromFetch, errorFromStatus, vendorErrorOf } from "@loopwright/provider-kit";

/** What is known of the call beside the error itself. */
export interface CallContext {
  /** The server's name for people. */
  readonly provider: string;
  readonly signal: AbortSignal;
  readonly secrets: readonly string[];
  /** True once the answer's headers were there. */
  readonly streaming?: boolean;
}

/** What to throw for anything that the SDK or the transport threw; nothing vendor-shaped passes. */
export function errorFromSdk(error: unknown, context: CallContext): unknown {
  if (context.signal.aborted) return context.signal.reason;
  if (isStatusError(error)) {
    // The SDK keeps the inner `error` object of the body where there is one, else the whole body; its own message repeats it as JSON.
    const said = vendorErrorOf(error.error ?? error.message);
    return errorFromStatus({ provider: context.provider, secrets: context.secrets, ...said, status: error.status, headers: error.headers });
  }
  return errorFromFetch(error, context);
}

/** The error for one that was sent inside an answer that began well: `{error: {...}}`, `{type: "error", ...}` or a failed response's `error`. */
export function errorFromEvent(body: unknown, context: Pick<CallContext, "provider" | "secrets">): AgentError {
  return errorFromStatus({ provider: context.provider, secrets: context.secrets, ...vendorErrorOf(body) });
}

/** The error for an answer that is no answer of this API. */
export function notTheApi(provider: string, what: string): AgentError {
  return new AgentError("MODEL_PROTOCOL", { message: `${provider} answered with ${what}, which is no answer of the OpenAI API.` });
}

/** The SDK's APIError, recognised by its shape: its classes all have the name "Error", and two copies of it may be installed. */
function isStatusError(error: unknown): error is { status: number; headers: Headers; error: unknown; message: string } {
  return (
    error instanceof Error &&
    "status" in error &&
    typeof error.status === "number" &&
    "headers" in error &&
    error.headers instanceof Headers &&
    "error" in error
  );
}
