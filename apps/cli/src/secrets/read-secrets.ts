/*
 * Owns: the secrets that a command starts with: those of files, local before global, before those of the environment.
 * Does not own: how files are encrypted, where the passphrase comes from.
 */
import { existsSync } from "node:fs";
import type { Logger, SecretStore } from "@loopwright/core/ports";
import type { Environment } from "../config/environment.ts";
import type { FoundSecrets, SecretPlace } from "../config/found-secrets.ts";
import type { PassphraseSource } from "./passphrase.ts";
import { refuseReuse } from "./secret-categories.ts";
import { secretPlaces } from "./secret-place.ts";

/** The scope of secrets of the process. */
export const platformScope = "_platform";

/** Where secrets are looked for. */
export interface SecretsQuery {
  readonly directory: string;
  /** The variables of the process and of its file. */
  readonly environment: Environment;
  readonly passphrase: PassphraseSource;
  readonly logger: Logger;
}

/** A file of secrets that opened. */
export interface OpenedFile {
  readonly place: SecretPlace;
  readonly store: SecretStore;
}

/** The files that are there and open with the passphrase; one that does not is left out with a warning. @throws AgentError CONFIG_INVALID without a passphrase */
export async function openFiles({ directory, passphrase, logger }: Omit<SecretsQuery, "environment">): Promise<readonly OpenedFile[]> {
  const opened: OpenedFile[] = [];
  for (const place of secretPlaces(directory).filter(({ path }) => existsSync(path))) {
    const { openSecretFiles } = await import("@loopwright/secrets/node");
    const [store] = await openSecretFiles({ paths: [place.path], passphrase: await passphrase(place.path), logger });
    if (store) opened.push({ place, store });
  }
  return opened;
}

/** Whether a variable has files of secrets stay closed. */
export const areSecretsOff = (environment: Environment): boolean =>
  ["0", "false", "no", "off"].includes(environment["LOOPWRIGHT_SECRETS"]?.trim().toLowerCase() ?? "");

/** The secrets of files. @throws AgentError CONFIG_INVALID without a passphrase, and for one value in secrets of different services */
export async function readSecrets(query: SecretsQuery): Promise<FoundSecrets> {
  const opened = areSecretsOff(query.environment) ? [] : await openFiles(query);
  const found = mergedFiles(await Promise.all(opened.map(async ({ place, store }) => ({ place, content: await contentOf(store) }))));
  refuseReuse({ ...query.environment, ...found.values });
  return found;
}

/** What a file of secrets holds. */
export interface FileContent {
  readonly place: SecretPlace;
  readonly content: Readonly<Record<string, string>>;
}

/** Every secret of a file by its name. */
export async function contentOf(store: SecretStore): Promise<Readonly<Record<string, string>>> {
  const content: Record<string, string> = {};
  for (const name of await store.names(platformScope)) {
    const value = await store.get(platformScope, name);
    if (value !== undefined) content[name] = value;
  }
  return content;
}

/** The secrets of several files: of one name that of the first file counts. */
export function mergedFiles(files: readonly FileContent[]): FoundSecrets {
  const values: Record<string, string> = {};
  const places: Record<string, SecretPlace> = {};
  for (const { place, content } of files) {
    for (const [name, value] of Object.entries(content)) {
      if (values[name] !== undefined) continue;
      values[name] = value;
      places[name] = place;
    }
  }
  return { values, places };
}
