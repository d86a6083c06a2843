import { AgentError, type ErrorCode, errorTable, isAgentError, vendorMessageOf } from "@loopwright/core";
import { oneLine } from "./terminal/neutralise.ts";

/**
 * An error in three lines for the user of the program: what happened, why, what to try. Never a stack or a secret.
 * `vendorMessage`: default, what the error was made with.
 */
export function complaintOf(error: unknown, vendorMessage: string | undefined = vendorMessageOf(error)): readonly [string, string, string] {
  const known = knownError(error);
  const what = oneLine(known.message, 600);
  const written = vendorMessage === undefined ? "" : ` Its message: ${oneLine(vendorMessage, 600)}`;
  return [`${what} (${known.code})`, `why: ${meaningOf(known.code)}${written}`, `try: ${oneLine(known.fix, 400)}`];
}

/** A newer server may name codes that this program does not know. */
const meaningOf = (code: string): string =>
  Object.hasOwn(errorTable, code) ? errorTable[code as ErrorCode].meaning : "The server reported it.";

/** The error itself where it is one of ours; an error of the system about files by its meaning; any other without its text, which may hold anything. */
export function knownError(error: unknown): AgentError {
  if (isAgentError(error)) return error;
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  if (code === "ENOSPC") return new AgentError("STORE_FULL", { message: "The disk is full.", cause: error });
  if (["EACCES", "EPERM", "EROFS"].includes(code)) {
    return new AgentError("STORE_READ_ONLY", { message: "A file or folder cannot be written.", cause: error });
  }
  const name = error instanceof Error ? error.name : typeof error;
  return new AgentError("INTERNAL", { message: `Unexpected ${name}${/^[A-Z_]{3,40}$/.test(code) ? ` ${code}` : ""}.`, cause: error });
}
