import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { AgentError } from "@loopwright/core";

/** Variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The variables of the process over those of the file: the real environment wins. Without `file` the `.env` of the directory
 * is read where there is one. Variables that are set but empty count as not set.
 * @throws AgentError CONFIG_INVALID when a file that was named cannot be read.
 */
export async function loadEnvironment(
  real: Environment,
  options: { readonly file?: string | undefined; readonly directory: string },
): Promise<Environment> {
  const path = resolve(options.directory, options.file ?? ".env");
  let text = "";
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    if (options.file !== undefined) {
      throw new AgentError("CONFIG_INVALID", {
        message: `The environment file \`${options.file}\` cannot be read.`,
        fix: "Check the path given with `--env`.",
        cause,
      });
    }
  }
  const set = (variables: Environment): [string, string | undefined][] => Object.entries(variables).filter(([, value]) => value?.trim());
  return Object.fromEntries([...set(parseEnv(text)), ...set(real)]);
}
