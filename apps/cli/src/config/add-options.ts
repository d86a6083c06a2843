import { type Command, Option } from "commander";
import type { ConfigOption } from "./option.ts";
import { type OptionName, optionNamed, options } from "./options.ts";
import { readValue } from "./read-value.ts";

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Gives a command the flags of these options, with their words and defaults. */
export function addOptions(command: Command, chosen: readonly ConfigOption[]): Command {
  for (const option of chosen) {
    if (option.flag === undefined) continue;
    const added = new Option(option.flag, wordsOf(option));
    if (option.kind === "list") added.argParser(collect);
    if (option.kind === "models" || option.kind === "file" || (option.kind === "switch" && added.optional))
      added.argParser((text) => readValue(option, text, `\`${added.long}\``));
    if (option.name === "offline") added.conflicts("provider");
    command.addOption(added);
  }
  return command;
}

/** The options of one of the groups. */
export const optionsOf = (commands: ConfigOption["commands"]): readonly ConfigOption[] =>
  options.filter((option) => option.commands === commands);

/** The options of these names. */
export const optionsNamed = (...names: readonly OptionName[]): readonly ConfigOption[] => names.map(optionNamed);

function wordsOf({ text, fallback, variable, isSecret }: ConfigOption): string {
  return `${text}${fallback === undefined ? "" : `; default: ${fallback}`}${variable === undefined || isSecret ? "" : `; ${variable}`}`;
}
