import { AgentError, type ResolveModel } from "@loopwright/core";
import { randomIds, systemClock } from "@loopwright/core/memory";
import {
  type ProviderBuilder,
  providerRoutes,
  providerSettings,
  type SettingsRoute,
  settingsRoutes,
  type UserSettingsStore,
  userSettings,
} from "@loopwright/user-settings";
import { guardedTransport } from "@loopwright/user-settings/node";
import type { Environment } from "../../config/environment.ts";
import type { Settings } from "../../settings/settings.ts";
import { isOperator } from "../is-operator.ts";
import { openRecords, openSecrets } from "./own-keys-places.ts";

/** What users set, and what it changes. */
export interface OwnKeys {
  readonly preferences: UserSettingsStore;
  readonly routes: readonly SettingsRoute[];
  readonly resolveModel: ResolveModel;
  close(): Promise<void>;
}

type OwnKeysSettings = Pick<Settings, "filesDirectory" | "environment" | "store">;

/**
 * What users set: models with keys of their own, encrypted with the master key, and their preferences. Kept in files beside the sessions, or with them in Redis or a bucket.
 * @throws AgentError CONFIG_INVALID for a missing or wrong master key and a wrong origin; STORE_UNAVAILABLE
 */
export async function openOwnKeys(options: OwnKeysSettings): Promise<OwnKeys> {
  const { records, ...entries } = await openRecords(options);
  const opened: { close(): Promise<void> }[] = [entries];
  const close = async (): Promise<void> => void (await Promise.all(opened.map((place) => place.close())));
  try {
    const { secrets, ...keys } = await openSecrets(options);
    opened.push(keys);
    const settings = providerSettings({
      mode: "AllowUserProviders",
      ...{ records, secrets, ids: randomIds, clock: systemClock },
      builders: await vendorBuilders(),
      transport: guardedTransport({ policy: { privateOrigins: originsOf(options.environment) } }),
    });
    const preferences = userSettings({ records });
    return {
      preferences,
      routes: [...providerRoutes(settings), ...settingsRoutes(preferences, { maySetPlan: isOperator })],
      resolveModel: (question) => settings.resolveModel(question),
      close,
    };
  } catch (error) {
    await close();
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
