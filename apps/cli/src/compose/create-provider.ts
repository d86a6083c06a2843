import { AgentError, type ModelRef } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";
import type { Environment } from "../config/environment.ts";
import { type ExecutorSettings, openExecutor } from "../executor/open-executor.ts";
import { hasLogin, KeptLogin } from "../login/kept-login.ts";
import { loginPlace, loginSentinel } from "../login/openai-login.ts";
import { keyOf } from "../settings/key-of.ts";
import type { Settings } from "../settings/settings.ts";

/** What a provider is made of. */
export type ProviderSettings = Pick<Settings, "vendor" | "model" | "baseUrl" | "environment" | "organizationId"> & ExecutorSettings;

/**
 * The provider that the settings name; only its package is loaded. Nothing is sent.
 * @throws AgentError MODEL_KEY_MISSING when the vendor needs a key and none of its variables is set.
 */
export async function createProvider(settings: ProviderSettings): Promise<ModelProvider> {
  const { vendor, model, baseUrl, environment, organizationId } = settings;
  const key = keyOf(vendor, environment)?.value;
  if (isLogin(settings, key)) return openLogin(settings);
  checkKey(settings, key);
  const shared = {
    ...(key ? { apiKey: key } : {}),
    ...(baseUrl ? { baseURL: baseUrl } : {}),
    ...(model ? { model } : {}),
  };
  switch (vendor.name) {
    case "openai": {
      const { openai } = await import("@loopwright/providers-openai");
      return openai({ ...shared, ...(organizationId ? { organization: organizationId } : {}) });
    }
    case "custom": {
      const { openai } = await import("@loopwright/providers-openai");
      // Without one the key of OpenAI itself would be taken, and sent to another server.
      return openai({ apiKey: "loopwright-no-key", ...shared, name: "custom" });
    }
    case "anthropic": {
      const { anthropic } = await import("@loopwright/providers-anthropic");
      return anthropic(shared);
    }
    case "gemini": {
      const { gemini } = await import("@loopwright/providers-gemini");
      return gemini(shared);
    }
    case "ollama": {
      const { ollama } = await import("@loopwright/providers-ollama");
      return ollama({ baseURL: await ollamaServer(environment), ...shared });
    }
    case "executor":
      return openExecutor(settings);
    case "offline": {
      const { offline } = await import("@loopwright/providers-scripted");
      const pace = Number(environment["LOOPWRIGHT_OFFLINE_PACE"] ?? Number.NaN);
      return offline(Number.isFinite(pace) && pace >= 0 ? { pace } : {});
    }
    default:
      return vendor.name satisfies never;
  }
}

/** Whether the login of this user counts: where its mark stands in place of a key, or OpenAI itself is asked without one. */
const isLogin = ({ vendor, baseUrl }: ProviderSettings, key: string | undefined): boolean =>
  vendor.name === "openai" && (key === loginSentinel || (!key && baseUrl === undefined && hasLogin()));

/** @throws AgentError MODEL_KEY_MISSING when the vendor needs a key and there is none */
function checkKey({ vendor, baseUrl }: ProviderSettings, key: string | undefined): void {
  // A server of one's own may need no key; the provider knows which do.
  const mayLackKey = vendor.name === "custom" || (vendor.name === "openai" && baseUrl !== undefined);
  if (key || vendor.keys.length === 0 || mayLackKey) return;
  const login = vendor.name === "openai" ? " log in with `loopwright login`," : "";
  throw new AgentError("MODEL_KEY_MISSING", {
    message: `${vendor.title} was chosen and ${vendor.keys.join(" or ")} is not set.`,
    fix: `Set ${vendor.keys[0]} or keep it with \`loopwright secrets set ${vendor.keys[0]}\`,${login} choose another with \`--provider\`, or try \`--offline\`.`,
  });
}

/** OpenAI with the login of this user. @throws AgentError CONFIG_INVALID with a server of one's own, which tokens of a login are not for */
async function openLogin({ model, baseUrl, environment }: ProviderSettings): Promise<ModelProvider> {
  if (baseUrl !== undefined)
    throw new AgentError("CONFIG_INVALID", {
      message: "A base URL is set, and a login at OpenAI counts at OpenAI alone.",
      fix: "Leave the base URL out, or set the key of that server in OPENAI_API_KEY.",
    });
  const { loginProvider } = await import("../login/login-provider.ts");
  return loginProvider(new KeptLogin(loginPlace(environment)), model);
}

/** The providers of the fallback chain in its order, each with its own model as the default one. @throws AgentError MODEL_KEY_MISSING, CONFIG_INVALID */
export async function createChain({ fallbacks, ...settings }: ProviderSettings & Pick<Settings, "fallbacks">): Promise<ProviderChain> {
  const { environment } = settings;
  const others = await Promise.all(fallbacks.map((fallback) => createProvider({ ...fallback, environment })));
  return [await createProvider(settings), ...others];
}

/** The first provider and those that are called where it fails. */
export type ProviderChain = readonly [ModelProvider, ...ModelProvider[]];

/** Each provider with its default model. */
export const modelsOf = (chain: ProviderChain): readonly ModelRef[] =>
  chain.map((provider): ModelRef => ({ provider, model: provider.defaultModel, keyOwner: "platform" }));

/** The server of `ollama`, as Ollama's own tools find it. @throws AgentError CONFIG_INVALID for a value that is no address */
export async function ollamaServer({ OLLAMA_HOST: host }: Environment): Promise<string> {
  const { ollamaAddress } = await import("@loopwright/providers-ollama");
  return ollamaAddress(host);
}
