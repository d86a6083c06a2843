import { AgentError, isAgentError } from "@loopwright/core";
import { codeOf } from "./file-calls.ts";

/** True when there is no space, or no more of one's share of it. */
function isFull(error: unknown): boolean {
  const code = codeOf(error);
  return code === "ENOSPC" || code === "EDQUOT";
}

/** What a caller is told of an error of the file system: the folder and what to do, no content. */
export function fileFault(error: unknown, folder: string): AgentError {
  if (isAgentError(error)) return error;
  const code = codeOf(error) ?? "unknown";
  if (isFull(error))
    return new AgentError("STORE_FULL", {
      message: `There is no space left for the store ${folder}.`,
      fix: "Free some space on its disk; nothing acknowledged is lost.",
    });
  if (code === "EACCES" || code === "EPERM" || code === "EROFS")
    return new AgentError("STORE_READ_ONLY", {
      message: `The store ${folder} cannot be written (${code}).`,
      fix: `Check the permissions of ${folder}.`,
    });
  if (code === "EIO")
    return new AgentError("STORE_UNAVAILABLE", {
      message: `The disk under the store ${folder} failed.`,
      fix: "Check the disk; nothing acknowledged is lost.",
    });
  return new AgentError("STORE_UNAVAILABLE", {
    message: `The store ${folder} cannot be used (${code}).`,
    fix: `Check the folder ${folder}.`,
  });
}
