import { type AgentError, isAgentError } from "@loopwright/core";
import { complaintOf } from "../complaint.ts";
import { createChain } from "../compose/create-provider.ts";
import { openMcp } from "../compose/mcp/open-mcp.ts";
import { type CheckedConfiguration, type Configuration, loadConfiguration, readConfiguration } from "../config/configure.ts";
import { shownFallback } from "../config/fallback-model.ts";
import { holdsServers } from "../config/mcp-servers.ts";
import type { ConfigOption } from "../config/option.ts";
import { options } from "../config/options.ts";
import { shownValue } from "../config/read-value.ts";
import { variableNames, variables } from "../config/variables.ts";
import { exitCodes } from "../exit-code.ts";
import type { SharedFlags } from "../flags.ts";
import { refuseReuse } from "../secrets/secret-categories.ts";
import { remarksOf, surveySecrets } from "../secrets/survey-secrets.ts";
import { runSettings } from "../serve/run-settings.ts";
import { checkSeparateSecrets } from "../serve/separate-secrets.ts";
import { settingsFrom } from "../settings/settings.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { padTo } from "../terminal/lines.ts";
import { oneLine } from "../terminal/neutralise.ts";

interface ConfigFlags extends SharedFlags {
  readonly sources?: boolean;
  readonly json?: boolean;
}

/** A line of `config print --sources`. */
interface ShownOption {
  readonly name: string;
  readonly value: string;
  readonly source: string;
}

/** Flags of the command itself are none of the configuration. */
const placeOf = ({ json: _, sources: __, ...flags }: ConfigFlags) => ({
  flags,
  real: process.env,
  directory: process.cwd(),
});

/** Prints the settings; secrets are masked. @throws AgentError CONFIG_INVALID */
export async function printConfig(flags: ConfigFlags): Promise<number> {
  const { reports, secretsFor } = surveySecrets(process.cwd());
  const configuration = await loadConfiguration({ ...placeOf(flags), secretsFor });
  for (const remark of remarksOf(reports)) process.stderr.write(`${remark}\n`);
  const shown = flags.sources ? [...optionsOf(configuration), ...variablesOf(configuration)] : givenOf(configuration);
  if (flags.json) print(jsonLine({ options: shown }));
  else if (flags.sources) printTable(shown);
  else print((await yamlOf(configuration)).trimEnd());
  return exitCodes.ok;
}

const print = (text: string): void => void process.stdout.write(`${text}\n`);

const nameOf = ({ key, variable, flag }: ConfigOption): string => key ?? variable ?? flag?.split(" ")[0] ?? "";

function optionsOf(configuration: Configuration): readonly ShownOption[] {
  const { vendor, because, fallbacks } = settingsFrom(configuration, process.cwd());
  return options
    .filter(({ name }) => !["offline", "env"].includes(name))
    .map((option): ShownOption => {
      const name = nameOf(option);
      if (option.name === "provider") return { name, value: vendor.name, source: configuration.sourceOf(because) };
      const given = shownOf(option, configuration);
      if (option.name === "fallbacks" && given === undefined)
        return {
          name,
          value: fallbacks.map((one) => one.vendor.name).join(", ") || "none",
          source: fallbacks.map((one) => one.because).join(", ") || "default",
        };
      return given ?? { name, value: option.fallback ?? "-", source: "default" };
    });
}

const mask = "********";

function shownOf(option: ConfigOption, configuration: Configuration): ShownOption | undefined {
  const [, value] = Object.entries(configuration.values).find(([name]) => name === option.name) ?? [];
  const source = sourceOf(option, configuration);
  if (value === undefined) return undefined;
  return { name: nameOf(option), value: isKeptSecret(option, configuration) ? mask : shownValue(option, value), source };
}

const sourceOf = (option: ConfigOption, { sources }: Configuration): string =>
  Object.entries(sources).find(([name]) => name === option.name)?.[1] ?? "";

/** Whether the value stands in a file of secrets: it is not shown then, whatever it is. */
const isKeptSecret = (option: ConfigOption, configuration: Configuration): boolean =>
  Object.keys(configuration.secrets).some((name) => configuration.sourceOf(name) === sourceOf(option, configuration));

const givenOf = (configuration: Configuration): readonly ShownOption[] => options.flatMap((option) => shownOf(option, configuration) ?? []);

/** Variables that are no options, where they are set, and everything else that files of secrets have. */
function variablesOf({ environment, sourceOf: placeOfVariable, secrets }: Configuration): readonly ShownOption[] {
  const set = variables.filter(({ name }) => environment[name] !== undefined);
  const known = new Set(variableNames);
  const kept = Object.keys(secrets).filter((name) => !known.has(name));
  return [
    ...set.map(({ name, isSecret }) => ({
      name,
      value: isSecret || secrets[name] !== undefined ? mask : plain(environment[name] ?? ""),
      source: placeOfVariable(name),
    })),
    ...kept.map((name) => ({ name: oneLine(name, 128), value: mask, source: placeOfVariable(name) })),
  ];
}

/** A text of a variable, without the password of an address. */
const plain = (text: string): string => shownValue({ name: "", kind: "text", commands: "run", text: "" }, text);

function printTable(shown: readonly ShownOption[]): void {
  const [name, value] = [
    Math.max(...shown.map((each) => each.name.length)) + 2,
    Math.min(48, Math.max(...shown.map((each) => each.value.length)) + 2),
  ];
  for (const each of shown)
    print(`${padTo(each.name, name)}${padTo(oneLine(each.value, 120), value)}${each.value.length >= value ? "  " : ""}${each.source}`);
}

/** The settings as a file that gives the same. Secrets are left out: the file takes none. */
async function yamlOf(configuration: Configuration): Promise<string> {
  const { stringify } = await import("yaml");
  const content: Record<string, unknown> = {};
  for (const option of options as readonly ConfigOption[]) {
    const [, value] = Object.entries(configuration.values).find(([name]) => name === option.name) ?? [];
    if (value === undefined || option.key === undefined || isKeptSecret(option, configuration)) continue;
    const written =
      option.kind === "number"
        ? Number(value)
        : typeof value === "string"
          ? option.kind === "servers" && holdsServers(value)
            ? JSON.parse(value)
            : shownValue(option, value)
          : option.kind === "models"
            ? [value].flat().map((one) => shownFallback(String(one)))
            : value;
    const [section = "", name] = option.key.split(".");
    content[section] = name === undefined ? written : { ...(content[section] as object | undefined), [name]: written };
  }
  return Object.keys(content).length === 0 ? "# Nothing is set: all values are defaults.\n" : stringify(content);
}

/** Prints every flaw, and what is suspicious. */
export async function validateConfig(flags: ConfigFlags): Promise<number> {
  const { flaws, warnings } = await checked(flags);
  if (flags.json)
    print(jsonLine({ ok: flaws.length === 0, flaws: flaws.map(({ code, message, fix }) => ({ code, message, fix })), warnings }));
  else {
    for (const flaw of flaws) process.stderr.write(`${complaintOf(flaw).join("\n")}\n`);
    for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
    if (flaws.length === 0) print("The configuration is valid.");
  }
  return flaws.length === 0 ? exitCodes.ok : exitCodes.config;
}

async function checked(flags: ConfigFlags): Promise<{ readonly flaws: readonly AgentError[]; readonly warnings: readonly string[] }> {
  let read: CheckedConfiguration;
  const { reports, secretsFor } = surveySecrets(process.cwd());
  try {
    read = await readConfiguration({ ...placeOf(flags), secretsFor });
  } catch (error) {
    return { flaws: [flawOf(error)], warnings: [] };
  }
  const flaws = [...read.flaws];
  // What is left out because it is wrong may be what the rest needs.
  if (flaws.length === 0) {
    try {
      refuseReuse(read.configuration.environment);
      const settings = settingsFrom(read.configuration, process.cwd());
      checkSeparateSecrets(runSettings(read.configuration.values, settings), settings.environment);
      await createChain(settings);
      await (await openMcp(settings))?.close();
    } catch (error) {
      flaws.push(flawOf(error));
    }
  }
  return { flaws, warnings: [...remarksOf(reports), ...warningsOf(read.configuration)] };
}

function flawOf(error: unknown): AgentError {
  if (isAgentError(error)) return error;
  throw error;
}

/** Names of ours that are none: a typing error, mostly. They are no flaws, since other programs may have set them. */
function warningsOf({ environment }: Configuration): readonly string[] {
  const known = new Set(variableNames.flatMap((name) => [name, `${name}_FILE`]));
  return Object.keys(environment)
    .filter((name) => name.startsWith("LOOPWRIGHT_") && !known.has(name))
    .map((name) => `No setting is read from ${oneLine(name, 80)}.`);
}
