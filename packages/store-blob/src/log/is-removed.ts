import { isAgentError } from "@loopwright/core";
import type { SessionRef } from "@loopwright/core/ports";
import type { OpenLogs } from "./open-logs.ts";

/** True when the log records by now that the session is gone. @throws AgentError STORE_* */
export async function isRemoved(logs: OpenLogs, ref: SessionRef): Promise<boolean> {
  const log = logs.of(ref);
  try {
    return (await log.run(() => log.current())).isRemoved;
  } catch (error) {
    // A damaged log was not removed. Its readers get the error.
    if (isAgentError(error, "SESSION_CORRUPT") || isAgentError(error, "STORE_TOO_NEW")) return false;
    throw error;
  }
}
