import { AgentError } from "@loopwright/core";
import type { ServerContext } from "../server-context.ts";
import { agentErrorOf, problemResponse } from "./problem-response.ts";

export interface Refusal {
  readonly server: Pick<ServerContext, "metrics" | "logger">;
  readonly request: Request;
  /** Name of the route, for metrics and the log. */
  readonly route: string;
  /** The only detail of an internal error that the caller gets: it leads to the entry of the log. */
  readonly requestId: string;
}

/** A path that exists, requested with another method. */
export class MethodRefused extends Error {
  /** The methods of the path. */
  readonly allow: string;
  constructor(allow: string) {
    super("The route does not take this method.");
    this.allow = allow;
  }
}

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** The problem document of what was thrown, counted; internal errors are logged with their stack. */
export function refuseRequest(thrown: unknown, { server, request, route, requestId }: Refusal): Response {
  const headers = thrown instanceof MethodRefused ? { Allow: thrown.allow } : {};
  const cause =
    thrown instanceof MethodRefused
      ? new AgentError("METHOD_NOT_ALLOWED", { message: `The route takes ${thrown.allow}, not ${request.method.slice(0, 16)}.` })
      : thrown;
  const error = agentErrorOf(cause);
  const response = problemResponse(error, headers);
  // Callers may invent methods, and each has a line in the metrics.
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
