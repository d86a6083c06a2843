import { isAbsolute, join, resolve } from "node:path";
import { AgentError, type ToolContext } from "@loopwright/core";
import { defaultFileLimits, type FileLimits } from "./file-limits.ts";

export interface FileToolsOptions {
  /** Absolute path of the directory that the tools share. Default: `context.files` of the call. */
  readonly directory?: string;
  readonly limits?: Partial<FileLimits>;
}

/** The settings that all file tools share. */
export interface FileSettings {
  directoryOf(context: Pick<ToolContext, "files">): string;
  readonly limits: FileLimits;
  /** True if entries are opened relative to directory descriptors. Default: true if the platform supports it. */
  readonly descriptors?: boolean | undefined;
}

/** The options with their defaults. @throws AgentError CONFIG_INVALID for a relative directory, or a limit that is not a positive whole number. */
export function fileSettings(options: FileToolsOptions): FileSettings {
  const limits: FileLimits = { ...defaultFileLimits, ...options.limits };
  for (const [name, value] of Object.entries(limits)) {
    if (!(Number.isSafeInteger(value) && value > 0))
      throw new AgentError("CONFIG_INVALID", { message: `\`limits.${name}\` is ${value}.`, fix: "Use a whole number above 0." });
  }
  const given = options.directory;
  if (given !== undefined) checkAbsolute(given, "directory");
  return {
    limits,
    directoryOf(context) {
      const directory = given ?? context.files?.directory;
      if (directory === undefined)
        throw new AgentError("CONFIG_INVALID", {
          message: "The file tools have no directory.",
          fix: "Pass `directory` to `fileTools`, or give the runtime a files directory.",
        });
      checkAbsolute(directory, "files.directory");
      return resolve(directory);
    },
  };
}

/** The directory for the files of the tools of an application in this working directory: `<workDirectory>/.loopwright/files`. */
export function defaultFilesDirectory(workDirectory: string): string {
  return join(resolve(workDirectory), ".loopwright", "files");
}

function checkAbsolute(directory: string, option: string): void {
  if (isAbsolute(directory)) return;
  throw new AgentError("CONFIG_INVALID", { message: `\`${option}\` is not an absolute path.`, fix: "Pass an absolute path." });
}
