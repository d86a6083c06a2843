import { AgentError, isAgentError } from "@loopwright/core";
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from "@modelcontextprotocol/client";

/** Why a server could not be asked. It stands in `details.reason`. */
export type McpFailureReason =
  | "not_connected"
  | "not_allowed"
  | "sign_in"
  | "timed_out"
  | "refused"
  | "no_process"
  | "too_many_connections"
  | "bad_answer"
  | "tool_error"
  | "secret_missing";

const written: Readonly<Record<McpFailureReason, { readonly what: string; readonly fix: string; readonly retryable?: boolean }>> = {
  not_connected: { what: "cannot be reached", fix: "Continue without it, or try again later.", retryable: true },
  not_allowed: { what: "has an address that is not allowed", fix: "Continue without it." },
  sign_in: { what: "asks for a sign-in", fix: "A person must sign in to it first; continue without it." },
  timed_out: { what: "did not answer in time", fix: "Continue without it, or try again later.", retryable: true },
  refused: { what: "refused the request", fix: "Check the arguments, or continue without it." },
  no_process: { what: "could not be started", fix: "Continue without it: its program is not usable here." },
  too_many_connections: { what: "was not asked, because too many connections are open", fix: "Try again later.", retryable: true },
  bad_answer: { what: "gave an answer that breaks the protocol, its own schema or a limit", fix: "Continue without it." },
  tool_error: { what: "reports that the call failed", fix: "Read what it wrote, and mend the arguments." },
  secret_missing: { what: "needs a secret that is not stored", fix: "A person must store it first; continue without it." },
};

/** The error of a server that could not be asked. Nothing that the server wrote is in it, because that may hold what it was sent. */
export function mcpError(reason: McpFailureReason, server: string, more = ""): AgentError {
  const { what, fix, retryable } = written[reason];
  const code = reason === "timed_out" ? "TOOL_TIMEOUT" : "TOOL_FAILED";
  return new AgentError(code, {
    message: `The MCP server \`${server}\` ${what}${more} (${reason}).`,
    fix,
    retryable,
    details: { reason, server },
  });
}

/** What an error of the SDK means: it, or what caused it. */
export function reasonOf(error: unknown): McpFailureReason {
  const reason = ownReasonOf(error);
  if (reason !== undefined) return reason;
  return error instanceof Error && error.cause !== undefined ? reasonOf(error.cause) : "not_connected";
}

const broken: readonly string[] = [SdkErrorCode.InvalidResult, SdkErrorCode.UnsupportedResultType, SdkErrorCode.ListPaginationExceeded];

function ownReasonOf(error: unknown): McpFailureReason | undefined {
  if (error instanceof UnauthorizedError) return "sign_in";
  if (error instanceof SdkHttpError) return error.status === 401 || error.status === 403 ? "sign_in" : "not_connected";
  if (error instanceof ProtocolError) return "refused";
  if (error instanceof SdkError)
    return error.code === SdkErrorCode.RequestTimeout ? "timed_out" : broken.includes(error.code) ? "bad_answer" : undefined;
  // The guard of URLs has refused an address.
  if (isAgentError(error)) return "not_allowed";
  return error instanceof Error && "syscall" in error && String(error.syscall).startsWith("spawn") ? "no_process" : undefined;
}
