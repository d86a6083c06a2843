import { dirname, join } from "node:path";
import { AgentError, type ResolveModel } from "@loopwright/core";
import { randomIds, systemClock } from "@loopwright/core/memory";
import { type MasterKey, masterKeyOf, masterKeys } from "@loopwright/secrets";
import { masterKeyFile, sqliteSecrets } from "@loopwright/secrets/node";
import {
  type ProviderBuilder,
  providerRoutes,
  providerSettings,
  type SettingsRoute,
  settingsRoutes,
  type UserSettingsStore,
  userSettings,
} from "@loopwright/user-settings";
import { guardedTransport, sqliteRecords } from "@loopwright/user-settings/node";
import type { Environment } from "../settings/environment.ts";
import type { Settings } from "../settings/settings.ts";

/** What users set, and what it changes. */
export interface OwnKeys {
  readonly preferences: UserSettingsStore;
  readonly routes: readonly SettingsRoute[];
  readonly resolveModel: ResolveModel;
  close(): Promise<void>;
}

/**
 * What users set, beside the sessions: models with keys of their own, encrypted with the master key, and their preferences.
 * @throws AgentError CONFIG_INVALID for a wrong master key or origin, STORE_UNAVAILABLE
 */
export async function openOwnKeys({ filesDirectory, environment }: Pick<Settings, "filesDirectory" | "environment">): Promise<OwnKeys> {
  const folder = dirname(filesDirectory);
  const records = sqliteRecords({ path: join(folder, "settings.db") });
  try {
    const keys = masterKeys(await masterKey(environment, join(folder, "master.key")));
    const secrets = sqliteSecrets({ path: join(folder, "secrets.db"), keys });
    const settings = providerSettings({
      mode: "AllowUserProviders",
      ...{ records, secrets, ids: randomIds, clock: systemClock },
      builders: await vendorBuilders(),
      transport: guardedTransport({ policy: { privateOrigins: originsOf(environment) } }),
    });
    const preferences = userSettings({ records });
    return {
      preferences,
      routes: [...providerRoutes(settings), ...settingsRoutes(preferences)],
      resolveModel: (question) => settings.resolveModel(question),
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

function masterKey(environment: Environment, path: string): Promise<MasterKey> {
  const text = environment["LOOPWRIGHT_MASTER_KEY"]?.trim();
  return text ? masterKeyOf(text) : masterKeyFile(path);
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
