/*
 * Owns: what an error of the application's code becomes: one entry in the log for operators, and an error with the right cause.
 * Why the text stays with operators: the message of a foreign error may hold anything, and the model and the client read the messages of a run.
 */
import { AgentError, type ErrorCode, isAgentError } from "../../errors.ts";
import type { Json } from "../../message/json.ts";
import type { Logger } from "../../ports/logger.ts";

/** Where errors are logged for operators, and of which session. */
export interface Reports {
  readonly logger: Logger;
  readonly sessionId: string;
  /** Observers, which are notified as well. */
  readonly observation?: { bug(where: string, error: unknown): void } | undefined;
}

/** Codes that are not reported again: they were reported where they arose, or the end was requested. */
const ownCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["RUN_ABORTED", "HOOK_TIMEOUT", "HOOK_FAILED"]);

/**
 * The error of user code at this place, which ends a run or a call and is never retried. An AgentError keeps its message, and its code unless that
 * would blame the model's vendor. Any other error becomes HOOK_FAILED; its own message goes to the logger alone.
 */
export function hookFailed(reports: Reports, where: string, error: unknown): AgentError {
  if (!isAgentError(error)) {
    reportThrown(reports, `${where} threw an error.`, error);
    return new AgentError("HOOK_FAILED", { message: `${where} failed.`, cause: error });
  }
  if (ownCodes.has(error.code)) return error;
  reportThrown(reports, `${where} threw an error.`, error);
  const { code, message, fix, details } = error;
  const blamesVendor = code.startsWith("MODEL_");
  return new AgentError(blamesVendor ? "HOOK_FAILED" : code, { message, fix, details, retryable: false, cause: error });
}

/** The error as an AgentError. Any other error is a bug of core or a companion, and is logged for operators. */
export function internalError(reports: Reports, where: string, error: unknown): AgentError {
  if (isAgentError(error)) return error;
  reportThrown(reports, `${where}: a bug.`, error);
  return new AgentError("INTERNAL", { message: `${where}.`, cause: error });
}

/** Logs name, message, stack and causes of what was thrown, and notifies observers. Never throws, whatever the error's getters do. */
export function reportThrown({ logger, sessionId, observation }: Reports, message: string, error: unknown): void {
  logger.log("error", message, { session: sessionId, error: describeThrown(error) });
  observation?.bug(message, error);
}

/** Logs that a session has lost its log. A bug is not logged again: it was reported where it arose. */
export function reportLoss({ logger, sessionId }: Reports, { code, message }: AgentError): void {
  if (code !== "INTERNAL") logger.log(code === "SESSION_CLOSED" ? "info" : "error", message, { code, session: sessionId });
}

const causesMax = 4;

/** What was thrown, as plain data. */
function describeThrown(error: unknown, depth = 0): { readonly [name: string]: Json } {
  try {
    if (!(error instanceof Error)) return { thrown: String(error) };
    const { name, message, stack, cause } = error;
    const code = isAgentError(error) ? { code: error.code } : {};
    const deeper = cause === undefined || depth >= causesMax ? {} : { cause: describeThrown(cause, depth + 1) };
    return { name: String(name), message: String(message), ...code, ...(typeof stack === "string" ? { stack } : {}), ...deeper };
  } catch {
    return { thrown: "something that throws when it is read" };
  }
}
