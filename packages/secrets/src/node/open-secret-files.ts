import { existsSync } from "node:fs";
import { isAgentError } from "@loopwright/core";
import type { Logger, SecretStore } from "@loopwright/core/ports";
import { fileSecrets } from "./file-secrets.ts";

export interface OpenSecretFilesOptions {
  /** Candidates, the first one the first to be asked. */
  readonly paths: readonly string[];
  readonly passphrase: string;
  readonly logger: Logger;
}

/**
 * The files that exist and open with the passphrase, in order, for `chainSecrets`. Each is checked now: one that is missing is left out, one that does not open
 * is left out with a warning that has its path, so that it hides no secret of the others. @throws AgentError STORE_UNAVAILABLE, CONFIG_INVALID
 */
export async function openSecretFiles({ paths, passphrase, logger }: OpenSecretFilesOptions): Promise<readonly SecretStore[]> {
  const stores: SecretStore[] = [];
  for (const path of paths) {
    if (!existsSync(path)) continue;
    try {
      const store = await fileSecrets({ path, passphrase });
      await store.names("_platform");
      stores.push(store);
    } catch (error) {
      if (!isAgentError(error, "SECRET_UNREADABLE")) throw error;
      logger.log("warn", "A file of secrets was left out because it cannot be opened.", { path, reason: error.message });
    }
  }
  return stores;
}
