import type { AgentError } from "@loopwright/core";
import { errorFromStatus, type VendorFailure, vendorErrorOf } from "@loopwright/provider-kit";
import { vendorName } from "./options.ts";

/** The error for an answer with the status of one. Acme sends the time to wait not in a header, but beside the sentence of the error. */
export function failureOf({ text, ...failure }: VendorFailure): AgentError {
  const wait = /"retry_ms": ?(\d{1,9})/.exec(text)?.[1];
  const retryAfterMs = wait === undefined ? {} : { retryAfterMs: Number(wait) };
  return errorFromStatus({ provider: vendorName, ...vendorErrorOf(text), ...retryAfterMs, ...failure });
}
