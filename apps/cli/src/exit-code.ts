import { type ErrorCode, type ExecuteResult, errorTable } from "@loopwright/core";

/** The exit codes; documented in the README. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, config: 3, provider: 4, limit: 5, aborted: 130 } as const;

/** The exit code of an error. */
export function exitCodeOf(code: ErrorCode): number {
  if (code === "RUN_ABORTED") return exitCodes.aborted;
  if (code === "LIMIT_REACHED" || code === "TOOL_LIMIT") return exitCodes.limit;
  if (code === "INPUT_INVALID" || code === "PAYLOAD_TOO_LARGE") return exitCodes.usage;
  if (code === "CONFIG_INVALID" || errorTable[code]?.class === "auth") return exitCodes.config;
  return code.startsWith("MODEL_") || code === "CONTEXT_OVERFLOW" || code === "SERVER_UNREACHABLE" ? exitCodes.provider : exitCodes.failed;
}

/** The exit code of a run. */
export function exitCodeOfRun(result: Pick<ExecuteResult, "status" | "error" | "limit">): number {
  switch (result.status) {
    case "completed":
      return result.limit ? exitCodes.limit : exitCodes.ok;
    case "awaiting_tool_execution":
      return exitCodes.ok;
    case "aborted":
      return exitCodes.aborted;
    case "error":
      return result.error ? exitCodeOf(result.error.code) : exitCodes.failed;
    default:
      return result.status satisfies never;
  }
}
