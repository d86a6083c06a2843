import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
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
  const path = resolve(directory, file);
  try {
    return (await import(pathToFileURL(path).href)) as object;
  } catch (cause) {
    // What the module made with our own functions has a message of ours.
    if (isAgentError(cause)) throw cause;
    const { why, fix } = reasonOf(cause, path);
    throw new AgentError("CONFIG_INVALID", {
      message: `The ${holds} in \`${file}\` cannot be loaded: ${why}.`,
      fix: `${fix} The flag is \`${flag}\`.`,
      cause,
    });
  }
}

interface Reason {
  readonly why: string;
  readonly fix: string;
}

const runs = "Name a JavaScript module (or TypeScript without enums) that runs.";

/** Why the module at the path cannot be loaded. What its code throws may hold anything: of that only the kind is named. */
function reasonOf(cause: unknown, path: string): Reason {
  if (!(cause instanceof Error)) return { why: "its code threw something that is no error", fix: runs };
  const known = "code" in cause ? reasonsByCode[String(cause.code)] : undefined;
  if (known) return known(cause, path);
  // Code can throw a SyntaxError of its own; that of the parser comes from the loader.
  const [, frame = ""] = (cause.stack ?? "").split("\n    at ");
  if (cause instanceof SyntaxError && frame.includes("node:internal/modules"))
    return { why: "it, or a module that it imports, is no valid JavaScript", fix: runs };
  return { why: `its code threw ${cause.name}`, fix: runs };
}

const reasonsByCode: { readonly [code: string]: (cause: Error, path: string) => Reason } = {
  ERR_MODULE_NOT_FOUND: (cause, path) =>
    existsSync(path)
      ? { why: `it imports ${missingIn(cause)}, which is not there`, fix: "Install or mend what it imports." }
      : { why: `there is no file ${path}`, fix: "Name a file that is there." },
  ERR_UNSUPPORTED_DIR_IMPORT: (_, path) => ({ why: `${path} is a folder`, fix: "Name a module in it." }),
  ERR_UNKNOWN_FILE_EXTENSION: () => ({ why: "its name does not end like that of a module", fix: runs }),
  EACCES: (_, path) => ({ why: `${path} cannot be read`, fix: "Give this user the right to read it." }),
};

/** The package or the file that is not there. */
function missingIn(cause: Error): string {
  if ("url" in cause) return fileURLToPath(String(cause.url));
  return /^Cannot find package '([^']+)'/.exec(cause.message)?.[1] ?? "a module";
}
