/*
 * Owns: what a command that only looks finds in the files of secrets: each is reported, and one that stays closed ends nothing.
 * Does not own: what a command that runs does without them (read-secrets).
 */
import { existsSync } from "node:fs";
import { isAgentError } from "@loopwright/core";
import type { Environment } from "../config/environment.ts";
import type { FoundSecrets, SecretPlace } from "../config/found-secrets.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { passphraseSource, passphraseVariable } from "./passphrase.ts";
import { areSecretsOff, contentOf, type FileContent, mergedFiles } from "./read-secrets.ts";
import { secretPlaces } from "./secret-place.ts";

/** A file of secrets that is there. */
export interface SecretFileReport {
  readonly place: SecretPlace;
  /** `closed`: not opened, since nothing gave its passphrase or secrets are off; `unreadable`: it does not open. */
  readonly state: "open" | "closed" | "unreadable";
  /** How many names it has, or why it was not opened; one line. */
  readonly text: string;
}

/** Looks into files of secrets; `reports` is complete once `secretsFor` has resolved. */
export interface SecretSurvey {
  readonly reports: readonly SecretFileReport[];
  secretsFor(environment: Environment): Promise<FoundSecrets>;
}

/** The survey of the files of this directory and of the user. A person is asked for the passphrase only where both standard input and output are a terminal. */
export function surveySecrets(directory: string): SecretSurvey {
  const reports: SecretFileReport[] = [];
  return {
    reports,
    async secretsFor(environment) {
      const opened: FileContent[] = [];
      const passphrase = passphraseSource(environment);
      for (const place of secretPlaces(directory).filter(({ path }) => existsSync(path))) {
        const closed = closedBecause(environment);
        const content = closed === undefined ? await contentAt(place, await passphrase(place.path)) : undefined;
        if (content === undefined) reports.push({ place, state: "closed", text: closed ?? "" });
        else if (typeof content === "string") reports.push({ place, state: "unreadable", text: content });
        else {
          const count = Object.keys(content).length;
          reports.push({ place, state: "open", text: `opens, ${count} ${count === 1 ? "name" : "names"}` });
          opened.push({ place, content });
        }
      }
      return mergedFiles(opened);
    },
  };
}

/** A line for each file of secrets that was not opened. */
export const remarksOf = (reports: readonly SecretFileReport[]): readonly string[] =>
  reports
    .filter(({ state }) => state !== "open")
    .map(({ place, text }) => `The file of ${place.kind} secrets ${oneLine(place.path, 200)}: ${text}.`.replace(/\.\.$/, "."));

/** Why no file is opened, where none is. */
function closedBecause(environment: Environment): string | undefined {
  if (areSecretsOff(environment)) return "not opened: LOOPWRIGHT_SECRETS is off";
  if (environment[passphraseVariable] || (process.stdin.isTTY === true && process.stdout.isTTY === true)) return undefined;
  return `not opened: ${passphraseVariable} is not set and there is no terminal to ask on, so its names count as not set`;
}

/** The secrets of the file by name, or why it does not open. */
async function contentAt({ path }: SecretPlace, passphrase: string): Promise<Readonly<Record<string, string>> | string> {
  try {
    const { fileSecrets } = await import("@loopwright/secrets/node");
    return await contentOf(await fileSecrets({ path, passphrase }));
  } catch (error) {
    if (isAgentError(error)) return `does not open: ${oneLine(error.message, 400)}`;
    throw error;
  }
}
