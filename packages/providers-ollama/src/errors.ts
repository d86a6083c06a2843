import { AgentError, isAgentError, vendorMessageOf } from "@loopwright/core";
import { errorFromStatus, type VendorFailure, vendorErrorOf } from "@loopwright/provider-kit";
import { vendorName } from "./options.ts";

/** The error with what to do about it, where the server is not there. */
export function explained(error: AgentError, baseURL: string): AgentError {
  if (!isAgentError(error, "MODEL_UNREACHABLE")) return error;
  return new AgentError("MODEL_UNREACHABLE", {
    message: error.message,
    fix: `Check that Ollama runs at ${baseURL} (\`ollama serve\`), or set OLLAMA_HOST.`,
    cause: error.cause,
  });
}

/** The error for an answer with the status of one. */
export function failureOf({ text, ...failure }: VendorFailure): AgentError {
  const written = vendorErrorOf(text);
  const error = errorFromStatus({ provider: vendorName, ...written, ...failure });
  if (error.code !== "MODEL_NOT_FOUND" || !/model/i.test(written.message ?? "")) return error;
  return new AgentError("MODEL_NOT_FOUND", {
    message: error.message,
    fix: "Fetch the model with `ollama pull`, or check its name.",
    details: error.details,
    vendorMessage: vendorMessageOf(error),
  });
}
