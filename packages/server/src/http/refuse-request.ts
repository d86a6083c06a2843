import { AgentError } from "@loopwright/core";
import type { ServerContext } from "../server-context.ts";
import { agentErrorOf, problemResponse } from "./problem-response.ts";

export interface Refusal {
  readonly server: Pick<ServerContext, "metrics" | "logger">;
  readonly request: Request;
  /** Name of the route, for metrics and the log. */
  readonly route: string;
  /** The only detail of an internal error that the caller gets. The operator finds the log entry by it. */
  readonly requestId: string;
}

/** A request with a wrong method for an existing path. */
export class MethodRefused extends Error {
  /** The methods of the path. */
  readonly allow: string;
  constructor(allow: string) {
    super("The route does not take this method.");
    this.allow = allow;
  }
}

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Counts the error and returns its problem document. Internal errors are logged with their stack. */
export function refuseRequest(thrown: unknown, { server, request, route, requestId }: Refusal): Response {
  const headers = thrown instanceof MethodRefused ? { Allow: thrown.allow } : {};
  const cause =
    thrown instanceof MethodRefused
      ? new AgentError("METHOD_NOT_ALLOWED", { message: `The route takes ${thrown.allow}, not ${request.method.slice(0, 16)}.` })
      : thrown;
  const error = agentErrorOf(cause);
  const response = problemResponse(error, headers);
  // An unknown method is counted as one name, because callers may invent methods and each name has a line in the metrics.
  server.metrics.count(methods.has(request.method) ? request.method : "OTHER", route, response.status);
  if (error.code === "INTERNAL") server.logger.log("error", error.message, { route, requestId, stack: framesOf(thrown) });
  return response;
}

/** The stack without the message of the error, which may hold content of a request. */
function framesOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  return thrown.stack
    ?.split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8)
    .join("\n");
}
