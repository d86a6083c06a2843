import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SecretStore } from "@loopwright/core/ports";
import { runKit, type SecretsUnderTest, secretStoreKit } from "@loopwright/testing";
import { afterEach, describe, it } from "vitest";
import { chainSecrets, createSecrets, environmentSecrets, masterKeyOf, masterKeys, memoryStorage, newMasterKey } from "../src/index.ts";
import { fileSecrets, sqliteSecrets } from "../src/node/index.ts";

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0).reverse()) cleanUp();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "loopwright-secrets-"));
  cleanUps.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Handles that `make` opens on the same bytes. */
async function under(make: () => SecretStore | Promise<SecretStore>): Promise<SecretsUnderTest> {
  return { secrets: await make(), again: async () => make() };
}

describe("encrypted secrets in memory keep every promise", () =>
  runKit(it, secretStoreKit, {
    make: async () => {
      const storage = memoryStorage();
      const keys = masterKeys(await masterKeyOf(newMasterKey()));
      return under(() => createSecrets({ storage, keys }));
    },
  }));

describe("secrets in SQLite keep every promise", () =>
  runKit(it, secretStoreKit, {
    make: async () => {
      const path = join(folder(), "secrets.db");
      const keys = masterKeys(await masterKeyOf(newMasterKey()));
      return under(() => {
        const secrets = sqliteSecrets({ path, keys });
        cleanUps.push(() => secrets.close());
        return secrets;
      });
    },
  }));

describe("secrets in a file keep every promise", () =>
  runKit(it, secretStoreKit, {
    make: async () => {
      const path = join(folder(), "deep", "secrets.enc");
      return under(() => fileSecrets({ path, passphrase: "correct horse", cost: { N: 16, r: 8, p: 1 } }));
    },
  }));

describe("a chain whose first store takes what is set keeps every promise", () =>
  runKit(it, secretStoreKit, {
    make: async () => {
      const [storage, behind] = [memoryStorage(), memoryStorage()];
      const keys = masterKeys(await masterKeyOf(newMasterKey()));
      const environment = environmentSecrets({ variables: {}, names: ["OPENAI_API_KEY"] });
      return under(() => chainSecrets([environment, createSecrets({ storage, keys }), createSecrets({ storage: behind, keys })]));
    },
  }));
