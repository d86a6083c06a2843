import { AgentError, type ErrorCode, isAgentError } from "@loopwright/core";

/** The path as an error may show it: quoted, escaped, at most 200 characters. */
function shownPath(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}...` : path);
}

/** An error about a path that the model gave, and what to do where that is not plain from the code. The directory's own path is never in it. */
export function fileError(code: ErrorCode, path: string, written: string | { readonly what: string; readonly fix: string }): AgentError {
  const { what, fix } = typeof written === "string" ? { what: written, fix: undefined } : written;
  return new AgentError(code, { message: `${shownPath(path)} ${what}`, fix });
}

/** The system's error code, for example `ENOENT`. */
export function systemCodeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** A system error in words that name the path as the model knows it; what is an AgentError or no system error stays as it is. */
export function translateError(error: unknown, path: string): unknown {
  const code = systemCodeOf(error);
  if (isAgentError(error) || code === undefined || (error instanceof Error && error.name === "AbortError")) return error;
  switch (code) {
    case "ENOENT":
      return fileError("FILE_NOT_FOUND", path, "does not exist.");
    case "ELOOP":
    case "ENOTDIR":
      return fileError("INVALID_PATH", path, "goes through something that is not a folder.");
    case "EISDIR":
    case "ENXIO":
    case "ENODEV":
      return fileError("NOT_REGULAR", path, "is not a regular file.");
    case "ENAMETOOLONG":
      return fileError("INVALID_PATH", path, "is too long.");
    case "ENOSPC":
    case "EDQUOT":
      return fileError("FILE_LIMIT", path, { what: "could not be written: the disk is full.", fix: "Free some space." });
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return fileError("TOOL_FAILED", path, { what: `is not permitted (${code}).`, fix: "Check the permissions of the files directory." });
    default:
      return fileError("TOOL_FAILED", path, `could not be used (${code}).`);
  }
}
