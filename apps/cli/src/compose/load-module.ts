import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { AgentError, isAgentError } from "@loopwright/core";

/** A module of the user's own and the flag that names it. */
export interface OwnModule {
  readonly file: string;
  /** What it has, for people: `tools`. */
  readonly holds: string;
  readonly flag: string;
}

/** What the module exports. It is run. @throws AgentError CONFIG_INVALID when it cannot be loaded */
export async function loadModule({ file, holds, flag }: OwnModule, directory: string): Promise<object> {
  try {
    return (await import(pathToFileURL(resolve(directory, file)).href)) as object;
  } catch (cause) {
    // What the module made with our own functions has a message of ours.
    if (isAgentError(cause)) throw cause;
    throw new AgentError("CONFIG_INVALID", {
      message: `The ${holds} in \`${file}\` cannot be loaded: ${cause instanceof Error ? cause.name : "unknown error"}.`,
      fix: `Name a JavaScript module (or TypeScript without enums) that runs, with \`${flag}\`.`,
      cause,
    });
  }
}
