import { AgentError, isAgentError } from "@loopwright/core";
import { codeOf, type FileCalls } from "./file-calls.ts";

/** True when there is no space, or no more of one's share of it. */
function isFull(error: unknown): boolean {
  const code = codeOf(error);
  return code === "ENOSPC" || code === "EDQUOT";
}

/** The error for the caller after a fault of the file system: the folder and what to do, no content. */
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

/** What stands in the place of a file or a folder is something else. */
const wrongKind: ReadonlySet<string> = new Set(["ENOTDIR", "EISDIR", "ERR_FS_EISDIR", "ELOOP"]);

/**
 * The error for the caller after a fault of one key. Where the flaw is that of the key's own session, as a file in place of its folder or a folder
 * that may not be read, the others are sound: then it is STORE_CORRUPT, and otherwise the fault of the whole store.
 */
export async function keyFault(
  error: unknown,
  { folder, key, files }: { readonly folder: string; readonly key: string; readonly files: FileCalls },
): Promise<AgentError> {
  const code = codeOf(error);
  if (isAgentError(error) || code === undefined) return fileFault(error, folder);
  const isRefused = code === "EACCES" || code === "EPERM";
  if (!wrongKind.has(code) && !isRefused) return fileFault(error, folder);
  // Above the own folder of a session lie those of its scope.
  const above = key.split("/").slice(0, 2).join("/");
  const isReadable =
    above !== key &&
    (await files.names(`${folder}/${above}`).then(
      () => true,
      () => false,
    ));
  if (!isReadable) return fileFault(error, folder);
  return new AgentError("STORE_CORRUPT", {
    message: `The object \`${key}\` of the store ${folder} cannot be used (${code}).`,
    fix: `Look at what lies under ${folder}/${key}, and put it right or back from a backup.`,
    details: { key },
  });
}
