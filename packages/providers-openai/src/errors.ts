import { AgentError } from "@loopwright/core";
import { errorFromStatus, vendorErrorOf } from "@loopwright/provider-kit";

/** What is known of the call beside the error itself. */
export interface CallContext {
  /** The server's name for people. */
  readonly provider: string;
  readonly signal: AbortSignal;
  readonly secrets: readonly string[];
  /** True once the answer's headers were there. */
  readonly streaming?: boolean;
}

/** The error for one that was sent inside an answer that began well: `{error: {...}}`, `{type: "error", ...}` or a failed response's `error`. */
export function errorFromEvent(body: unknown, context: Pick<CallContext, "provider" | "secrets">): AgentError {
  return errorFromStatus({ provider: context.provider, secrets: context.secrets, ...vendorErrorOf(body) });
}

/** The error for an answer that is no answer of this API. */
export function notTheApi(provider: string, what: string): AgentError {
  return new AgentError("MODEL_PROTOCOL", { message: `${provider} answered with ${what}, which is no answer of the OpenAI API.` });
}
