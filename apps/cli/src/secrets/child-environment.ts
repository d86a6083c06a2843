import type { Environment } from "../config/environment.ts";
import { passphraseVariable } from "./passphrase.ts";

/** The variables that a child process of a tool gets: those of this process with the secrets of files, and without their passphrase. */
export function childEnvironment(secrets: Readonly<Record<string, string>>, own: Environment = process.env): Environment {
  const { [passphraseVariable]: _, ...others } = own;
  return { ...others, ...secrets };
}

/** Puts the secrets of files into this process, for its user alone works with it: every child process has them. A server lends them to children only. */
export function lendSecrets(secrets: Readonly<Record<string, string>>): void {
  delete process.env[passphraseVariable];
  Object.assign(process.env, secrets);
}
