import { dirname, join } from "node:path";
import { AgentError, type ResolveModel } from "@loopwright/core";
import { randomIds, systemClock } from "@loopwright/core/memory";
import type { SecretStore } from "@loopwright/core/ports";
import { createSecrets, masterKeyOf, masterKeys, redisStorage } from "@loopwright/secrets";
import { masterKeyFile, sqliteSecrets } from "@loopwright/secrets/node";
import {
  type ProviderBuilder,
  providerRoutes,
  providerSettings,
  redisRecords,
  type SettingsRoute,
  settingsRoutes,
  type UserRecords,
  type UserSettingsStore,
  userSettings,
} from "@loopwright/user-settings";
import { guardedTransport, sqliteRecords } from "@loopwright/user-settings/node";
import type { Environment } from "../config/environment.ts";
import type { Settings } from "../settings/settings.ts";
import { openRedis } from "./open-store.ts";

/** What users set, and what it changes. */
export interface OwnKeys {
  readonly preferences: UserSettingsStore;
  readonly routes: readonly SettingsRoute[];
  readonly resolveModel: ResolveModel;
  close(): Promise<void>;
}

type OwnKeysSettings = Pick<Settings, "filesDirectory" | "environment" | "store">;

/**
 * What users set: models with keys of their own, encrypted with the master key, and their preferences. Kept in files beside the sessions, or with them in Redis.
 * @throws AgentError CONFIG_INVALID for a missing or wrong master key, a wrong origin, and a bucket; STORE_UNAVAILABLE
 */
export async function openOwnKeys(options: OwnKeysSettings): Promise<OwnKeys> {
  const { records, secrets, close } = await openPlaces(options);
  try {
    const settings = providerSettings({
      mode: "AllowUserProviders",
      ...{ records, secrets, ids: randomIds, clock: systemClock },
      builders: await vendorBuilders(),
      transport: guardedTransport({ policy: { privateOrigins: originsOf(options.environment) } }),
    });
    const preferences = userSettings({ records });
    return {
      preferences,
      routes: [...providerRoutes(settings), ...settingsRoutes(preferences)],
      resolveModel: (question) => settings.resolveModel(question),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface OwnKeysPlaces {
  readonly records: UserRecords;
  readonly secrets: SecretStore;
  close(): Promise<void>;
}

async function openPlaces({ filesDirectory, environment, store }: OwnKeysSettings): Promise<OwnKeysPlaces> {
  const text = environment["LOOPWRIGHT_MASTER_KEY"]?.trim() ?? "";
  if (store.kind === "s3")
    throw new AgentError("CONFIG_INVALID", {
      message: "Keys of users are not kept in a bucket, and files of this machine would be unknown to the others.",
      fix: "Keep sessions in Redis, in a SQLite file or in a folder, or leave `--own-keys` out.",
    });
  if (store.kind === "redis") {
    if (text === "")
      throw new AgentError("CONFIG_INVALID", {
        message: "Several machines keep keys of users in Redis, and LOOPWRIGHT_MASTER_KEY, which they share, is not set.",
        fix: "Set it to the same 32 random bytes everywhere, as `openssl rand -base64 32` prints them.",
      });
    const keys = masterKeys(await masterKeyOf(text));
    const redis = await openRedis(store.url, { environment });
    const place = { command: (words: readonly string[]) => redis.command(words) };
    return { records: redisRecords(place), secrets: createSecrets({ storage: redisStorage(place), keys }), close: () => redis.close() };
  }
  const folder = dirname(filesDirectory);
  const keys = masterKeys(await (text === "" ? masterKeyFile(join(folder, "master.key")) : masterKeyOf(text)));
  const records = sqliteRecords({ path: join(folder, "settings.db") });
  try {
    const secrets = sqliteSecrets({ path: join(folder, "secrets.db"), keys });
    return {
      records,
      secrets,
      async close() {
        secrets.close();
        records.close();
      },
    };
  } catch (error) {
    records.close();
    throw error;
  }
}

/** Servers of one's own network that users may name. */
function originsOf(environment: Environment): readonly string[] {
  return (environment["LOOPWRIGHT_OWN_KEYS_ORIGINS"] ?? "").split(",").flatMap((origin) => origin.trim() || []);
}

/** Each is given a key and an address, so that none looks into the environment for those of the deployment. */
async function vendorBuilders(): Promise<{ readonly [providerId: string]: ProviderBuilder }> {
  const [{ openai }, { anthropic }, { gemini }] = await Promise.all([
    import("@loopwright/providers-openai"),
    import("@loopwright/providers-anthropic"),
    import("@loopwright/providers-gemini"),
  ]);
  return {
    openai: {
      title: "OpenAI",
      defaultModel: openai().defaultModel,
      baseUrl: "refused",
      create: ({ apiKey, model }) => openai({ apiKey, model, baseURL: "https://api.openai.com/v1", organization: null, project: null }),
    },
    anthropic: {
      title: "Anthropic",
      defaultModel: anthropic().defaultModel,
      baseUrl: "refused",
      create: ({ apiKey, model }) => anthropic({ apiKey, model, baseURL: "https://api.anthropic.com" }),
    },
    gemini: {
      title: "Google Gemini",
      defaultModel: gemini().defaultModel,
      baseUrl: "refused",
      create: ({ apiKey, model }) => gemini({ apiKey, model, baseURL: "https://generativelanguage.googleapis.com" }),
    },
    custom: {
      title: "Any OpenAI-compatible server",
      baseUrl: "required",
      create: ({ baseURL, ...rest }) => {
        if (baseURL === undefined) throw new AgentError("OWN_KEY_UNUSABLE", { message: "The provider has no address of a server." });
        return openai({ ...rest, baseURL, name: "custom", organization: null, project: null });
      },
    },
  };
}
