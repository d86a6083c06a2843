import type { Environment } from "./environment.ts";
import type { ConfigOption } from "./option.ts";
import { type ConfigValues, type OptionName, options } from "./options.ts";
import { type ConfigValue, readValue } from "./read-value.ts";

/** The values that one source gives, such as all flags. */
export interface ConfigLevel {
  readonly values: ConfigValues;
  /** Where each of them stands, for people. */
  readonly sources: { readonly [Name in OptionName]?: string };
}

export const emptyLevel: ConfigLevel = { values: {}, sources: {} };

/** The values of flags, as commander gives them. Those that are no options of the configuration are left out. */
export function levelOfFlags(flags: object): ConfigLevel {
  const given = new Map(Object.entries(flags));
  const found = options.filter(({ flag, name }) => flag !== undefined && given.get(name) !== undefined);
  return {
    values: Object.fromEntries(found.map(({ name }) => [name, given.get(name)])),
    sources: Object.fromEntries(found.map(({ name, flag = "" }) => [name, flag.split(" ")[0]])),
  };
}

/** Kubernetes gives each container such variables for each service: one that is called `loopwright` has the name of ours. */
const isServiceLink = (option: ConfigOption, text: string): boolean => option.kind === "number" && /^(tcp|udp|sctp):\/\//.test(text);

/** The values of variables. `sourceOf` names where a variable stands. @throws AgentError CONFIG_INVALID */
export function levelOfEnvironment(environment: Environment, sourceOf: (variable: string) => string = (name) => name): ConfigLevel {
  const values: { [name: string]: ConfigValue } = {};
  const sources: { [name: string]: string } = {};
  for (const option of options) {
    const text = option.variable === undefined ? undefined : environment[option.variable];
    if (option.variable === undefined || !text?.trim() || isServiceLink(option, text)) continue;
    sources[option.name] = sourceOf(option.variable);
    values[option.name] = readValue(option, text, sources[option.name] ?? option.variable);
  }
  return { values: values as ConfigValues, sources };
}
