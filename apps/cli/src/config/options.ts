/*
 * Owns: every option of the configuration: its flag, its variable, its key in `loopwright.yaml`, its type, its default, its words for people.
 * Does not own: where values come from (configure), what they mean together (settings, run-settings).
 */
import { callerOptions } from "./caller-options.ts";
import { channelOptions } from "./channel-options.ts";
import { modelOptions } from "./model-options.ts";
import type { ConfigOption } from "./option.ts";
import { addressOptions, runOptions } from "./run-options.ts";

const all = [...modelOptions, ...addressOptions, ...callerOptions, ...runOptions, ...channelOptions];

/** All options, in the order in which they are shown. */
export const options: readonly ConfigOption[] = all;

type Option = (typeof all)[number];
/** The name of an option. */
export type OptionName = Option["name"];

type ValueOf<Kind> = Kind extends "switch"
  ? boolean
  : Kind extends "list" | "models"
    ? readonly string[]
    : Kind extends "file"
      ? string | boolean
      : string;

/** The values of options; numbers are kept as they were written. */
export type ConfigValues = { readonly [Each in Option as Each["name"]]?: ValueOf<Each["kind"]> };

/** The option of this name, in the type that all have. */
export function optionNamed(name: OptionName): ConfigOption {
  const found = options.find((option) => option.name === name);
  if (!found) throw new Error(`There is no option ${name}.`);
  return found;
}
