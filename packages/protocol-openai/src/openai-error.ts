import { type AgentError, errorTable, isAgentError } from "@loopwright/core/protocol";

/** The fields of an error of OpenAI's API. */
export interface OpenAiError {
  readonly message: string;
  readonly type: string;
  /** The field of the request that is wrong. */
  readonly param: string | null;
  readonly code: string | null;
}

/** A request that is refused before anything runs. */
export class RequestRefused extends Error {
  readonly status: number;
  readonly param: string | null;
  readonly code: string;

  constructor(
    message: string,
    { status = 400, param = null, code = "invalid_value" }: Partial<Pick<RequestRefused, "status" | "param" | "code">> = {},
  ) {
    super(message);
    this.status = status;
    this.param = param;
    this.code = code;
  }
}

/** @throws RequestRefused that names the field */
export function refuse(param: string, message: string, code = "invalid_value"): never {
  throw new RequestRefused(`\`${param}\`: ${message}`, { param, code });
}

/** Retries of the SDK would run the agent again. */
const noRetry = { "x-should-retry": "false" } as const;

/** The answer to a request that failed. After a run has begun (`hasRun`) it asks the client's SDK not to repeat the request. @throws any error that is neither a refusal nor an AgentError */
export function errorResponse(error: unknown, { hasRun = false }: { readonly hasRun?: boolean } = {}): Response {
  const headers = hasRun ? noRetry : {};
  return Response.json({ error: openAiErrorOf(error) }, { status: statusOf(error), headers });
}

/** An error as a client of OpenAI's API reads it. @throws any error that is neither a refusal nor an AgentError */
export function openAiErrorOf(error: unknown): OpenAiError {
  if (error instanceof RequestRefused) return { message: error.message, type: typeOf(error.status), param: error.param, code: error.code };
  if (!isAgentError(error)) throw error;
  const { field } = error.details ?? {};
  const param = typeof field === "string" ? field : null;
  return { message: `${error.message} ${error.fix}`, type: typeOf(statusOf(error)), param, code: codeOf(error) };
}

function statusOf(error: unknown): number {
  if (error instanceof RequestRefused) return error.status;
  return isAgentError(error) && Object.hasOwn(errorTable, error.code) ? errorTable[error.code].status : 500;
}

/** Codes that clients of OpenAI's API know; ours for all others. */
function codeOf({ code }: AgentError): string {
  if (code === "UNAUTHENTICATED") return "invalid_api_key";
  if (code === "AGENT_NOT_FOUND") return "model_not_found";
  if (code === "RATE_LIMITED") return "rate_limit_exceeded";
  return code;
}

function typeOf(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}
