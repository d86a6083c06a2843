/*
 * Owns: `loopwright.yaml`: that it is read, that each of its keys is known, and where each value stands in it.
 * Does not own: which source wins (configure).
 */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { AgentError, isAgentError, refuseUnknownOptions } from "@loopwright/core";
import { oneLine } from "../terminal/neutralise.ts";
import { type ConfigLevel, emptyLevel } from "./config-level.ts";
import { fallbacksOfFile } from "./fallback-model.ts";
import { mcpServersOfFile } from "./mcp-servers.ts";
import type { ConfigOption } from "./option.ts";
import { type ConfigValues, options } from "./options.ts";
import { type ConfigValue, readValue } from "./read-value.ts";
import { type Content, isRecord, readYaml } from "./yaml-content.ts";

/** The file that is read where none is named. */
const usualConfigFile = "loopwright.yaml";

const byKey: ReadonlyMap<string, ConfigOption> = new Map(
  options.flatMap((option) => (option.key === undefined ? [] : [[option.key, option] as const])),
);
const sections: ReadonlySet<string> = new Set([...byKey.keys()].flatMap((key) => (key.includes(".") ? [key.split(".")[0] ?? ""] : [])));

/** What a file holds, and each flaw of it. */
export interface ConfigFile {
  readonly level: ConfigLevel;
  readonly flaws: readonly AgentError[];
}

/**
 * The settings of the file; an empty level where none is named and the usual one is absent. Flaws are returned, so that all can be shown.
 * @throws AgentError CONFIG_INVALID when a file that was named cannot be read
 */
export async function readConfigFile(directory: string, named: string | undefined): Promise<ConfigFile> {
  const name = named ?? usualConfigFile;
  let text: string;
  try {
    text = await readFile(resolve(directory, name), "utf8");
  } catch (cause) {
    const isAbsent = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    if (named === undefined && isAbsent) return { level: emptyLevel, flaws: [] };
    throw new AgentError("CONFIG_INVALID", {
      message: `The file of settings \`${oneLine(name, 200)}\` ${isAbsent ? "does not exist" : "cannot be read"}.`,
      fix: "Check the path of `--config` or LOOPWRIGHT_CONFIG, and the rights of the file.",
      cause,
    });
  }
  return parseConfigFile(text, oneLine(name, 200));
}

/** The settings of this text; `name` is that of its file, for people. */
export async function parseConfigFile(text: string, name: string): Promise<ConfigFile> {
  try {
    const { content, lineOf } = await readYaml(text, name);
    return readContent(content, (path) => `${name}${lineOf(path) === undefined ? "" : `:${lineOf(path)}`}`);
  } catch (error) {
    if (!isAgentError(error, "CONFIG_INVALID")) throw error;
    return { level: emptyLevel, flaws: [error] };
  }
}

/** The values of all known keys, and a flaw for each that is unknown or wrong. `placeOf` is file and line, for people. */
function readContent(content: Content, placeOf: (path: readonly string[]) => string): ConfigFile {
  const values: { [name: string]: ConfigValue } = {};
  const sources: { [name: string]: string } = {};
  const flaws: AgentError[] = [];
  for (const [path, value] of leavesOf(content)) {
    if (value === null || value === undefined) continue;
    const key = path.join(".");
    const place = placeOf(path);
    try {
      const option = byKey.get(key) ?? refuseKey(path, place);
      values[option.name] = typedValue(option, value, `\`${key}\` of ${place}`);
      sources[option.name] = place;
    } catch (error) {
      if (!isAgentError(error, "CONFIG_INVALID")) throw error;
      flaws.push(error);
    }
  }
  return { level: { values: values as ConfigValues, sources }, flaws };
}

/** The values with their paths; sections are opened, anything else is left whole. */
function* leavesOf(content: Content): Iterable<readonly [path: readonly string[], value: unknown]> {
  for (const [key, value] of Object.entries(content)) {
    if (!sections.has(key) || !isRecord(value)) yield [[key], value];
    else for (const [inner, each] of Object.entries(value)) yield [[key, inner], each];
  }
}

/** The error of a key that is none. @throws AgentError CONFIG_INVALID */
function refuseKey(path: readonly string[], place: string): never {
  const [last = "", section] = [path.at(-1), path.length > 1 ? path[0] : undefined];
  const shown = oneLine(path.join("."), 80);
  if (section === undefined && sections.has(last))
    throw new AgentError("CONFIG_INVALID", {
      message: `\`${shown}\` of ${place} is a section, and it holds no settings.`,
      fix: `Write its settings below it, indented: ${keysOf(last).join(", ")}.`,
    });
  const secret = options.find(({ isSecret, name }) => isSecret && name.toLowerCase() === last.replaceAll("_", ""));
  if (secret)
    throw new AgentError("CONFIG_INVALID", {
      message: `\`${shown}\` of ${place} is a secret, and the file takes none.`,
      fix: `Set ${secret.variable}, or ${secret.variable}_FILE with the path of a file that holds it.`,
    });
  const known = section === undefined ? [...keysOf(undefined), ...sections] : keysOf(section);
  // Two letters that changed places are two changes of a short word.
  const swapped = known.find((key) => lettersOf(key) === lettersOf(last));
  const elsewhere = [...byKey.keys()].find((key) => key !== last && key.split(".").at(-1) === last);
  const meant = swapped === undefined ? elsewhere : [...(section === undefined ? [] : [section]), swapped].join(".");
  if (meant !== undefined)
    throw new AgentError("CONFIG_INVALID", {
      message: `There is no setting \`${shown}\` (${place}).`,
      fix: `Did you mean \`${meant}\`?`,
    });
  const owner = section === undefined ? place : `\`${oneLine(section, 40)}\` (${place})`;
  refuseUnknownOptions({ [last]: true }, Object.fromEntries(known.map((key) => [key, true])), owner);
  throw new AgentError("CONFIG_INVALID", { message: `There is no setting \`${shown}\` (${place}).` });
}

const lettersOf = (word: string): string => [...word.toLowerCase()].sort().join("");

/** The keys of a section, or those that stand in none. */
function keysOf(section: string | undefined): readonly string[] {
  const paths = [...byKey.keys()].map((key) => key.split("."));
  return paths.flatMap(([first = "", second]) =>
    section === undefined ? (second === undefined ? [first] : []) : first === section && second ? [second] : [],
  );
}

/** A value of YAML as that of the option. @throws AgentError CONFIG_INVALID */
function typedValue(option: ConfigOption, value: unknown, source: string): ConfigValue {
  if (option.kind === "models") return fallbacksOfFile(value, source);
  if (option.kind === "servers") return mcpServersOfFile(value, source);
  if (typeof value === "string") return readValue(option, value, source);
  if (typeof value === "boolean" && (option.kind === "switch" || option.kind === "file")) return value;
  if (typeof value === "number" && option.kind !== "switch") return readValue(option, String(value), source);
  if (Array.isArray(value) && (option.kind === "names" || option.kind === "list") && value.every((each) => typeof each === "string"))
    return option.kind === "list" ? value : value.join(",");
  const wanted = { switch: "`true` or `false`", number: "a number", names: "a list of texts", list: "a list of texts" } as const;
  throw new AgentError("CONFIG_INVALID", {
    message: `${source} is ${Array.isArray(value) ? "a list" : isRecord(value) ? "a group of settings" : `a ${typeof value}`}.`,
    fix: `Write ${Object.hasOwn(wanted, option.kind) ? wanted[option.kind as keyof typeof wanted] : "a text, in quotes where it looks like a number"}.`,
  });
}
