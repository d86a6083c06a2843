import type { AgentError } from "@loopwright/core";
import { errorFromStatus, type VendorFailure, vendorErrorOf } from "@loopwright/provider-kit";
import { vendorName } from "./options.ts";

/** The error for an answer with the status of one. */
export function failureOf({ text, ...failure }: VendorFailure): AgentError {
  return errorFromStatus({ provider: vendorName, ...vendorErrorOf(text), ...failure });
}
