import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SecretStore } from "@loopwright/core/ports";
import { redisMissing, startRedis } from "@loopwright/simulator/node";
import { fileBlobs } from "@loopwright/store-blob";
import { redisStore } from "@loopwright/store-redis";
import { runKit, type SecretsUnderTest, secretStoreKit } from "@loopwright/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  chainSecrets,
  createSecrets,
  environmentSecrets,
  masterKeyOf,
  masterKeys,
  memoryStorage,
  newMasterKey,
  objectStorage,
  redisStorage,
} from "../src/index.ts";
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

describe.skipIf(redisMissing())("secrets in Redis keep every promise", () => {
  let redis: Awaited<ReturnType<typeof startRedis>> | undefined;
  let count = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());
  const opened = (prefix: string) => {
    const store = redisStore({ url: redis?.url ?? "", prefix, deadlineMs: 20_000 });
    cleanUps.push(() => void store.close());
    return redisStorage({ command: (words) => store.command(words), prefix });
  };
  runKit(it, secretStoreKit, {
    make: async () => {
      const prefix = `test${count++}`;
      const keys = masterKeys(await masterKeyOf(newMasterKey()));
      return under(() => createSecrets({ storage: opened(prefix), keys }));
    },
  });

  it("of many writers at once each is kept, a rotation finds every scope, and Redis holds no value in clear", async () => {
    const [old, next] = [await masterKeyOf(newMasterKey()), await masterKeyOf(newMasterKey())];
    const [one, two] = [1, 2].map(() => createSecrets({ storage: opened("shared"), keys: masterKeys(old) }));
    await Promise.all([1, 2, 3, 4, 5, 6].map((n) => (n % 2 ? one : two)?.set("team", `K${n}`, `sk-CANARY-${n}`)));
    await two?.set("other", "K", "sk-CANARY-other");
    const rotated = createSecrets({ storage: opened("shared"), keys: masterKeys(next, [old]) });
    expect(await rotated.names("team")).toEqual(["K1", "K2", "K3", "K4", "K5", "K6"]);
    expect([await rotated.rewrap(), await rotated.rewrap()]).toEqual([2, 0]);
    const only = createSecrets({ storage: opened("shared"), keys: masterKeys(next) });
    expect([await only.get("team", "K3"), await only.get("other", "K")]).toEqual(["sk-CANARY-3", "sk-CANARY-other"]);
    const dump = JSON.stringify(
      await Promise.all(["team", "other"].map((scope) => redis?.command("HGETALL", `shared:{secrets/${scope}}`))),
    );
    expect(dump).toContain("of:K3");
    expect(dump).not.toContain("CANARY");
    expect(dump).not.toContain(btoa("sk-CANARY").slice(0, 11));
  });
});

describe("secrets in objects under a condition keep every promise", () => {
  const opened = () => {
    const objects = fileBlobs({ folder: folder() });
    cleanUps.push(() => void objects.close());
    return objects;
  };
  runKit(it, secretStoreKit, {
    make: async () => {
      const objects = opened();
      const keys = masterKeys(await masterKeyOf(newMasterKey()));
      return under(() => createSecrets({ storage: objectStorage({ objects, prefix: "own/" }), keys }));
    },
  });

  it("of many writers at once each is kept, and a rotation finds every scope", async () => {
    const [old, next] = [await masterKeyOf(newMasterKey()), await masterKeyOf(newMasterKey())];
    const objects = opened();
    const [one, two] = [1, 2].map(() => createSecrets({ storage: objectStorage({ objects }), keys: masterKeys(old) }));
    await Promise.all([1, 2, 3, 4, 5, 6].map((n) => (n % 2 ? one : two)?.set("team", `K${n}`, `value ${n}`)));
    await two?.set("other", "K", "another");
    const rotated = createSecrets({ storage: objectStorage({ objects }), keys: masterKeys(next, [old]) });
    expect(await rotated.names("team")).toEqual(["K1", "K2", "K3", "K4", "K5", "K6"]);
    expect([await rotated.rewrap(), await rotated.rewrap()]).toEqual([2, 0]);
    const only = createSecrets({ storage: objectStorage({ objects }), keys: masterKeys(next) });
    expect([await only.get("team", "K3"), await only.get("other", "K")]).toEqual(["value 3", "another"]);
  });

  it("what is not known to be written is STORE_UNAVAILABLE, and a full place STORE_FULL", async () => {
    const keys = masterKeys(await masterKeyOf(newMasterKey()));
    for (const [type, code] of [
      ["unknown", "STORE_UNAVAILABLE"],
      ["full", "STORE_FULL"],
    ] as const) {
      const objects = { get: async () => undefined, put: async () => ({ type }), list: async () => ({ objects: [], hasMore: false }) };
      const secrets = createSecrets({ storage: objectStorage({ objects }), keys });
      await expect(secrets.set("team", "K", "value")).rejects.toMatchObject({ code });
    }
  });
});

describe("secrets in a file keep every promise", () =>
  runKit(it, secretStoreKit, {
    make: async () => {
      const path = join(folder(), "deep", "secrets.enc");
      return under(() => fileSecrets({ path, passphrase: "correct horse", cost: { memoryKib: 64, passes: 1, lanes: 1 } }));
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
