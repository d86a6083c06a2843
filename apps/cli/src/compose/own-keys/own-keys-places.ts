import { dirname, join } from "node:path";
import { AgentError } from "@loopwright/core";
import {
  createSecrets,
  type EncryptedSecrets,
  type KeyRing,
  masterKeyOf,
  masterKeys,
  objectStorage,
  redisStorage,
} from "@loopwright/secrets";
import { masterKeyFile, sqliteSecrets } from "@loopwright/secrets/node";
import { objectRecords, redisRecords, type UserRecords } from "@loopwright/user-settings";
import { sqliteRecords } from "@loopwright/user-settings/node";
import type { Settings } from "../../settings/settings.ts";
import { bucketObjects, openRedis } from "../open-store.ts";

type PlaceSettings = Pick<Settings, "filesDirectory" | "environment" | "store">;

/** What the keys of objects begin with, beside those of sessions. */
const prefix = "own-keys/";

/** What users set, without keys. @throws AgentError CONFIG_INVALID, STORE_UNAVAILABLE */
export async function openRecords({
  filesDirectory,
  environment,
  store,
}: PlaceSettings): Promise<{ readonly records: UserRecords; close(): Promise<void> }> {
  if (store.kind === "redis") {
    const redis = await openRedis(store.url, { environment });
    return { records: redisRecords({ command: (words) => redis.command(words) }), close: () => redis.close() };
  }
  if (store.kind === "s3") {
    const objects = await bucketObjects(store, environment);
    return { records: objectRecords({ objects, prefix }), close: () => objects.close() };
  }
  const records = sqliteRecords({ path: join(dirname(filesDirectory), "settings.db") });
  return { records, close: async () => records.close() };
}

/** The keys of users, encrypted. @throws AgentError CONFIG_INVALID for a missing or wrong master key, STORE_UNAVAILABLE */
export async function openSecrets(settings: PlaceSettings): Promise<{ readonly secrets: EncryptedSecrets; close(): Promise<void> }> {
  const { filesDirectory, environment, store } = settings;
  const keys = await ringOf(settings);
  if (store.kind === "redis") {
    const redis = await openRedis(store.url, { environment });
    const storage = redisStorage({ command: (words) => redis.command(words) });
    return { secrets: createSecrets({ storage, keys }), close: () => redis.close() };
  }
  if (store.kind === "s3") {
    const objects = await bucketObjects(store, environment);
    return { secrets: createSecrets({ storage: objectStorage({ objects, prefix }), keys }), close: () => objects.close() };
  }
  const secrets = sqliteSecrets({ path: join(dirname(filesDirectory), "secrets.db"), keys });
  return { secrets, close: async () => secrets.close() };
}

/** The master key of LOOPWRIGHT_MASTER_KEY, else that of the file, with those of LOOPWRIGHT_OLDER_MASTER_KEYS, which only open what they sealed. */
async function ringOf({ filesDirectory, environment, store }: PlaceSettings): Promise<KeyRing> {
  const text = environment["LOOPWRIGHT_MASTER_KEY"]?.trim() ?? "";
  if (text === "" && (store.kind === "redis" || store.kind === "s3"))
    throw new AgentError("CONFIG_INVALID", {
      message: "Several machines keep keys of users beside their sessions, and LOOPWRIGHT_MASTER_KEY, which they share, is not set.",
      fix: "Set it to the same 32 random bytes everywhere, as `openssl rand -base64 32` prints them.",
    });
  const current = await (text === "" ? masterKeyFile(join(dirname(filesDirectory), "master.key")) : masterKeyOf(text));
  const older = (environment["LOOPWRIGHT_OLDER_MASTER_KEYS"] ?? "").split(",").flatMap((one) => one.trim() || []);
  return masterKeys(current, await Promise.all(older.map(masterKeyOf)));
}
