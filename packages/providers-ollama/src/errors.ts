import { AgentError, isAgentError, vendorSaidBy } from "@loopwright/core";
import { errorFromFetch, errorFromStatus, vendorErrorOf } from "@loopwright/provider-kit";
import { vendorName } from "./options.ts";

/** What to throw for anything that a call threw: the signal's reason when it was aborted, else an AgentError. */
export function errorOf(
  error: unknown,
  context: { readonly signal: AbortSignal; readonly streaming: boolean; readonly baseURL: string },
): unknown {
  const { signal, streaming, baseURL } = context;
  const made = errorFromFetch(error, { provider: vendorName, signal, ...(streaming ? { streaming } : {}) });
  if (!isAgentError(made, "MODEL_UNREACHABLE") || streaming) return made;
  return new AgentError("MODEL_UNREACHABLE", {
    message: made.message,
    fix: `Check that Ollama runs at ${baseURL} (\`ollama serve\`), or set OLLAMA_HOST.`,
    cause: made.cause,
  });
}

/** The error for an answer with another status than 2xx. */
export async function statusErrorOf(response: Response, secrets: readonly string[]): Promise<AgentError> {
  const { status, headers } = response;
  const said = vendorErrorOf(await response.text());
  const error = errorFromStatus({ provider: vendorName, ...said, status, headers, secrets });
  if (error.code !== "MODEL_NOT_FOUND" || !/model/i.test(said.message ?? "")) return error;
  return new AgentError("MODEL_NOT_FOUND", {
    message: error.message,
    fix: "Fetch the model with `ollama pull`, or check its name.",
    details: error.details,
    vendorSaid: vendorSaidBy(error),
  });
}
