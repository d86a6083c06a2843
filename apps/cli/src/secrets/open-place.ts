import { existsSync } from "node:fs";
import type { FileSecrets } from "@loopwright/secrets/node";
import type { Environment } from "../config/environment.ts";
import type { SecretPlace } from "../config/found-secrets.ts";
import { newPassphrase, passphraseSource, passphraseVariable } from "./passphrase.ts";

/** The file of the place, opened; a new one gets its passphrase here. @throws AgentError SECRET_UNREADABLE, CONFIG_INVALID, STORE_UNAVAILABLE */
export async function openPlace({ path }: SecretPlace, environment: Environment): Promise<FileSecrets> {
  const { fileSecrets } = await import("@loopwright/secrets/node");
  const passphrase = existsSync(path)
    ? await passphraseSource(environment)(path)
    : await newPassphrase(environment[passphraseVariable], path);
  return fileSecrets({ path, passphrase });
}
