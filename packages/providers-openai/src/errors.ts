import { AgentError } from "@loopwright/core";
import { errorFromStatus, type VendorFailure, vendorErrorOf } from "@loopwright/provider-kit";

/** The name that errors show, and the secrets that are removed from them. */
export interface ErrorContext {
  /** The server's name for people. */
  readonly provider: string;
  readonly secrets: readonly string[];
}

/** The error for an answer with the status of one. */
export function failureOf({ text, ...failure }: VendorFailure, provider: string): AgentError {
  return errorFromStatus({ provider, ...vendorErrorOf(text), ...failure });
}

/** The error for one that was sent inside an answer that began well: `{error: {...}}`, `{type: "error", ...}` or a failed response's `error`. */
export function errorFromEvent(body: unknown, { provider, secrets }: ErrorContext): AgentError {
  return errorFromStatus({ provider, secrets, ...vendorErrorOf(body) });
}

/** The error for an answer that is no answer of this API. */
export function notTheApi(provider: string, what: string): AgentError {
  return new AgentError("MODEL_PROTOCOL", { message: `${provider} answered with ${what}, which is no answer of the OpenAI API.` });
}
