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
  /** Is notified as well. */
  readonly observation?: { bug(where: string, error: unknown): void } | undefined;
}

/** Codes of ours: they were reported where they arose, or the end was asked for. */
const ownCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["RUN_ABORTED", "HOOK_TIMEOUT", "HOOK_FAILED"]);

/**
 * The error that user code at this place ends a run or a call with, never retried. An AgentError keeps its words and its code, but for a code that
 * would blame the model's vendor. Anything else is HOOK_FAILED; its own words go to the logger alone.
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

/** A bug of ours or of a companion: logged for operators with all that is known of it. */
export function internalError(reports: Reports, where: string, error: unknown): AgentError {
  if (isAgentError(error)) return error;
  reportThrown(reports, `${where}: a bug.`, error);
  return new AgentError("INTERNAL", { message: `${where}.`, cause: error });
}

/** Logs what was thrown: name, message, stack and causes. Never throws, whatever the error's getters do. */
export function reportThrown({ logger, sessionId, observation }: Reports, message: string, error: unknown): void {
  logger.log("error", message, { session: sessionId, error: describeThrown(error) });
  observation?.bug(message, error);
}

/** That the log was lost to a session. A bug was reported where it arose. */
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
