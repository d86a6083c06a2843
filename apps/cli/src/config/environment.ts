import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { AgentError } from "@loopwright/core";
import { oneLine } from "../terminal/neutralise.ts";
import { variableNames } from "./variables.ts";

/** Variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables, and where each stands. */
export interface ReadEnvironment {
  readonly variables: Environment;
  /** The variable with its place, for people: `LOOPWRIGHT_PORT (.env)`. */
  sourceOf(variable: string): string;
}

interface EnvironmentFile {
  /** Absent: `.env` of the directory, where there is one. */
  readonly file?: string | undefined;
  readonly directory: string;
}

/** A file that a variable names holds no more than this. */
const bytesMax = 64 * 1024;

/**
 * The variables of the process over those of the file: the real environment wins. Without `file` the `.env` of the directory
 * is read where there is one. Variables that are set but empty count as not set. A variable that is read here may be given as a file, by its name and `_FILE`.
 * @throws AgentError CONFIG_INVALID when a file that was named cannot be read, and for a variable that is given both ways
 */
export async function loadEnvironment(real: Environment, options: EnvironmentFile): Promise<Environment> {
  return (await readEnvironment(real, options)).variables;
}

/** The same with the places of the variables. @throws AgentError CONFIG_INVALID */
export async function readEnvironment(real: Environment, { file, directory }: EnvironmentFile): Promise<ReadEnvironment> {
  const text = await textOf(resolve(directory, file ?? ".env"), file);
  const set = (variables: Environment): Environment => Object.fromEntries(Object.entries(variables).filter(([, value]) => value?.trim()));
  const [fromFile, fromProcess] = await Promise.all(
    [set(parseEnv(text)), set(real)].map(async (variables) => ({ variables, files: await filesOf(variables, directory) })),
  );
  const places = new Map<string, string>();
  const variables: Record<string, string | undefined> = {};
  for (const [level, place] of [[fromFile, ` (${oneLine(file ?? ".env", 100)})`] as const, [fromProcess, ""] as const]) {
    for (const [name, value] of Object.entries({ ...level?.variables, ...level?.files })) {
      variables[name] = value;
      places.set(name, `${name}${level?.files[name] === undefined ? "" : "_FILE"}${place}`);
    }
  }
  return { variables, sourceOf: (variable) => places.get(variable) ?? variable };
}

async function textOf(path: string, named: string | undefined): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    if (named === undefined) return "";
    throw new AgentError("CONFIG_INVALID", {
      message: `The environment file \`${oneLine(named, 200)}\` cannot be read.`,
      fix: "Check the path given with `--env`.",
      cause,
    });
  }
}

/** The values of variables that are given as files, without the line break at their end. */
async function filesOf(variables: Environment, directory: string): Promise<Environment> {
  const given = variableNames.filter((name) => variables[`${name}_FILE`] !== undefined);
  return Object.fromEntries(await Promise.all(given.map(async (name) => [name, await valueIn(name, variables, directory)] as const)));
}

async function valueIn(name: string, variables: Environment, directory: string): Promise<string> {
  const path = variables[`${name}_FILE`] ?? "";
  if (variables[name] !== undefined)
    throw new AgentError("CONFIG_INVALID", {
      message: `${name} and ${name}_FILE are both set.`,
      fix: "Set one of them: the value, or the path of a file that holds it.",
    });
  const refused = (what: string, cause?: unknown): AgentError =>
    new AgentError("CONFIG_INVALID", {
      message: `The file \`${oneLine(path, 200)}\` of ${name}_FILE ${what}.`,
      fix: "Name a file that holds the value alone and that this user may read.",
      cause,
    });
  let bytes: Buffer;
  try {
    bytes = await readFile(resolve(directory, path));
  } catch (cause) {
    throw refused("cannot be read", cause);
  }
  if (bytes.length > bytesMax) throw refused(`is larger than ${bytesMax / 1024} KiB`);
  const value = bytes.toString("utf8").replace(/\r?\n$/, "");
  if (value.trim() === "") throw refused("is empty");
  return value;
}
