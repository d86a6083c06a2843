import type { Logger } from "@loopwright/core/ports";
import { loadConfiguration } from "./config/configure.ts";
import type { Environment } from "./config/environment.ts";
import type { FoundSecrets } from "./config/found-secrets.ts";
import { type PassphraseSource, passphraseSource } from "./secrets/passphrase.ts";
import { readSecrets } from "./secrets/read-secrets.ts";
import { type SecretFileReport, surveySecrets } from "./secrets/survey-secrets.ts";
import { type ModelFlags, type Settings, settingsFrom } from "./settings/settings.ts";
import { createStyle, type Style } from "./terminal/style.ts";

/** Flags that every command has. */
export interface SharedFlags extends ModelFlags {
  readonly env?: string;
  readonly config?: string;
  readonly plain?: boolean;
  /** False for `--no-color`. */
  readonly color?: boolean;
}

/** The settings of this process: its flags, its variables, `loopwright.yaml`, its working directory. @throws AgentError CONFIG_INVALID */
export async function settingsOf(flags: SharedFlags): Promise<Settings> {
  const directory = process.cwd();
  return settingsFrom(await loadConfiguration({ flags, real: process.env, directory }), directory);
}

/** What opens files of secrets, beside the settings. */
export interface SecretsOptions {
  readonly logger: Logger;
  /** What gives the passphrase, from the variables. Default: the variable, else a person at the terminal. */
  readonly passphraseFor?: (environment: Environment) => PassphraseSource;
}

/** The same with the secrets of files, which a person may be asked the passphrase for. @throws AgentError CONFIG_INVALID */
export async function settingsWithSecrets(
  flags: SharedFlags,
  { logger, passphraseFor = passphraseSource }: SecretsOptions,
): Promise<Settings> {
  const directory = process.cwd();
  const secretsFor = (environment: Environment): Promise<FoundSecrets> =>
    readSecrets({ directory, environment, logger, passphrase: passphraseFor(environment) });
  return settingsFrom(await loadConfiguration({ flags, real: process.env, directory, secretsFor }), directory);
}

/** The same for a command that only looks: with the secrets of files that open, and a report of each file; none of them ends it. @throws AgentError CONFIG_INVALID */
export async function settingsWithSurvey(
  flags: SharedFlags,
): Promise<{ readonly settings: Settings; readonly reports: readonly SecretFileReport[] }> {
  const directory = process.cwd();
  const { reports, secretsFor } = surveySecrets(directory);
  return { settings: settingsFrom(await loadConfiguration({ flags, real: process.env, directory, secretsFor }), directory), reports };
}

/** Colours where the stream is a terminal and neither `--no-color`, NO_COLOR nor TERM=dumb is against it. FORCE_COLOR asks for them anywhere. */
export function styleFor(stream: { readonly isTTY?: boolean }, flags: SharedFlags): Style {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  const refused = flags.color === false || Boolean(NO_COLOR) || TERM === "dumb";
  return createStyle(!refused && (stream.isTTY === true || Boolean(FORCE_COLOR && FORCE_COLOR !== "0")));
}

/** Columns of prose on this stream: never the last one, and not more than the eye follows. */
export function proseWidth(stream: { readonly columns?: number }): number {
  return Math.max(20, Math.min((stream.columns ?? 80) - 1, 100));
}
