import { AgentError, type ErrorCode, isAgentError } from "@loopwright/core";

/** Primary result codes of SQLite. @see https://www.sqlite.org/rescode.html (2026-11-23) */
const meanings: { readonly [result: number]: readonly [ErrorCode, string] } = {
  3: ["STORE_READ_ONLY", "cannot be written"],
  5: ["STORE_UNAVAILABLE", "is locked by another process"],
  6: ["STORE_UNAVAILABLE", "is locked by another process"],
  8: ["STORE_READ_ONLY", "cannot be written"],
  10: ["STORE_UNAVAILABLE", "lies on a disk that failed"],
  11: ["STORE_CORRUPT", "is damaged"],
  13: ["STORE_FULL", "has no space left"],
  14: ["STORE_UNAVAILABLE", "cannot be opened"],
  26: ["STORE_CORRUPT", "is no database"],
};

const systemCodes: { readonly [code: string]: readonly [ErrorCode, string] } = {
  EACCES: ["STORE_READ_ONLY", "may not be opened"],
  EPERM: ["STORE_READ_ONLY", "may not be opened"],
  EROFS: ["STORE_READ_ONLY", "cannot be written"],
  ENOSPC: ["STORE_FULL", "has no space left"],
  EISDIR: ["STORE_UNAVAILABLE", "is a folder"],
  ENOTDIR: ["STORE_UNAVAILABLE", "lies below something that is no folder"],
  EEXIST: ["STORE_UNAVAILABLE", "lies below something that is no folder"],
};

/** The typed error for one of the engine or of the file system, with the path and no content; anything else as it is. */
export function errorOf(error: unknown, path: string): unknown {
  if (isAgentError(error) || !(error instanceof Error)) return error;
  const result = "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
  const system = "code" in error && typeof error.code === "string" ? error.code : "";
  const [code, what] = (result === undefined ? systemCodes[system] : meanings[result]) ?? [];
  return code === undefined ? error : new AgentError(code, { message: `The knowledge in ${path} ${what}.`, cause: error });
}
