/*
 * Owns: which of several sources gives the value of an option: flags, then variables, then the file.
 * Does not own: how each source is read.
 */

import { AgentError } from "@loopwright/core";
import { readConfigFile } from "./config-file.ts";
import { type ConfigLevel, levelOfEnvironment, levelOfFlags } from "./config-level.ts";
import { type Environment, readEnvironment } from "./environment.ts";
import type { FoundSecrets } from "./found-secrets.ts";
import type { ConfigValues, OptionName } from "./options.ts";
import type { ConfigValue } from "./read-value.ts";

/** All values that are given, each by its strongest source. */
export interface Configuration extends ConfigLevel {
  /** The variables of the process over those of the file of `--env`. */
  readonly environment: Environment;
  /** Where a variable stands, for people. */
  sourceOf(variable: string): string;
  /** Those of the variables that come from files of secrets, by name. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Flags, variables and the file as one, from the strongest to the weakest. */
export function configure(
  levels: readonly ConfigLevel[],
  environment: Environment = {},
  sourceOf: Configuration["sourceOf"] = (variable) => variable,
): Configuration {
  const values: { [Name in OptionName]?: ConfigValue } = {};
  const sources: { [Name in OptionName]?: string } = {};
  for (const level of levels.map(withRedis).map(withExecutor)) {
    for (const name of Object.keys(level.values) as OptionName[]) {
      if (values[name] !== undefined || isSetAside(name, level, values)) continue;
      values[name] = level.values[name] as ConfigValue;
      const source = level.sources[name];
      if (source !== undefined) sources[name] = source;
    }
  }
  return { values: values as ConfigValues, sources, environment, sourceOf, secrets: {} };
}

/** `redis` stands for all that is not named beside it, before what a weaker source names. */
function withRedis(level: ConfigLevel): ConfigLevel {
  const { redis } = level.values;
  if (redis === undefined) return level;
  const meant = (["store", "channel", "queue"] as const).filter((name) => level.values[name] === undefined);
  const source = level.sources.redis ?? "";
  return {
    values: { ...level.values, ...Object.fromEntries(meant.map((name) => [name, redis])) },
    sources: { ...level.sources, ...Object.fromEntries(meant.map((name) => [name, source])) },
  };
}

/** A source that names an executor chooses it, where it names no provider. */
function withExecutor(level: ConfigLevel): ConfigLevel {
  const { executor, provider } = level.values;
  if (executor === undefined || provider !== undefined) return level;
  return {
    values: { ...level.values, provider: "executor" },
    sources: { ...level.sources, provider: level.sources.executor ?? "" },
  };
}

const ofModel: ReadonlySet<OptionName> = new Set(["provider", "model", "baseUrl", "fallbacks", "executor"]);

/** A model and an address belong to the provider beside which they stand: a stronger source that chooses another provider chooses without them. */
function isSetAside(name: OptionName, level: ConfigLevel, stronger: { readonly [Name in OptionName]?: ConfigValue }): boolean {
  if (!ofModel.has(name)) return false;
  if (stronger.offline === true && level.values.offline !== true) return true;
  const { provider } = level.values;
  return (
    name !== "provider" &&
    name !== "fallbacks" &&
    provider !== undefined &&
    stronger.provider !== undefined &&
    stronger.provider !== provider
  );
}

/** Where a configuration is looked for. */
export interface ConfigPlace {
  readonly flags: object;
  /** The variables of the process. */
  readonly real: Environment;
  /** The working directory. */
  readonly directory: string;
  /** Gives the secrets of files, which come before the variables. Absent: none is opened. */
  readonly secretsFor?: (environment: Environment) => Promise<FoundSecrets>;
}

/** A configuration, and every flaw of its sources. */
export interface CheckedConfiguration {
  readonly configuration: Configuration;
  readonly flaws: readonly AgentError[];
}

/** Reads all sources. Flaws of the file are returned; those of variables are thrown. @throws AgentError CONFIG_INVALID */
export async function readConfiguration({ flags, real, directory, secretsFor }: ConfigPlace): Promise<CheckedConfiguration> {
  const fromFlags = levelOfFlags(flags);
  const read = await readEnvironment(real, { file: fromFlags.values.env, directory });
  const secrets = await secretsFor?.(read.variables);
  const variables = { ...read.variables, ...secrets?.values };
  const sourceOf = (variable: string): string => {
    const place = secrets?.places[variable];
    return place ? `${variable} (${place.kind} secrets)` : read.sourceOf(variable);
  };
  const fromEnvironment = levelOfEnvironment(variables, sourceOf);
  const file = await readConfigFile(directory, fromFlags.values.config ?? fromEnvironment.values.config);
  const configuration = configure([fromFlags, fromEnvironment, file.level], variables, sourceOf);
  return { configuration: { ...configuration, secrets: secrets?.values ?? {} }, flaws: file.flaws };
}

/** The configuration of this process. @throws AgentError CONFIG_INVALID for the first flaw, with the number of the others */
export async function loadConfiguration(place: ConfigPlace): Promise<Configuration> {
  const { configuration, flaws } = await readConfiguration(place);
  const [first, ...rest] = flaws;
  if (first === undefined) return configuration;
  if (rest.length === 0) throw first;
  const more = ` ${rest.length === 1 ? "1 more flaw is" : `${rest.length} more flaws are`} shown by \`loopwright config validate\`.`;
  throw new AgentError("CONFIG_INVALID", { message: first.message, fix: `${first.fix}${more}` });
}
