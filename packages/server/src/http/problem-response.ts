import { AgentError, failureOf, isAgentError } from "@loopwright/core";
import { problemOf } from "@loopwright/core/protocol";

/** Returns an AgentError unchanged; any other error becomes INTERNAL, without its text, which may have content of a request. */
export function agentErrorOf(error: unknown): AgentError {
  return isAgentError(error) ? error : new AgentError("INTERNAL", { message: failureOf(error).message, cause: error });
}

/** The `Link` header to the snapshot with which a reader starts again. */
function linkOf({ details }: AgentError): { readonly [name: string]: string } {
  const snapshot = details?.["snapshot"];
  return typeof snapshot === "string" ? { Link: `<${snapshot}>; rel="latest-version"` } : {};
}

/** `Retry-After` of a 503 whose error has none, because every 503 names a time. */
const unavailableMs = 2_000;

/** The problem document of an error as a response. */
export function problemResponse(error: AgentError, headers: { readonly [name: string]: string } = {}): Response {
  const problem = problemOf(error);
  const retryAfterMs = error.retryAfterMs ?? (problem.status === 503 ? unavailableMs : undefined);
  const more = {
    ...(retryAfterMs === undefined ? {} : { "Retry-After": String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) }),
    ...(error.code === "HISTORY_EXPIRED" ? linkOf(error) : {}),
    ...(error.code === "UNAUTHENTICATED" ? { "WWW-Authenticate": "Bearer" } : {}),
    // The unread rest of the body would be parsed as the next request, so the connection is closed.
    ...(error.code === "PAYLOAD_TOO_LARGE" || error.code === "REQUEST_TIMEOUT" ? { Connection: "close" } : {}),
  };
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { "Content-Type": "application/problem+json", ...more, ...headers },
  });
}
