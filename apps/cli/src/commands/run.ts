import type { ModelProvider } from "@loopwright/core/ports";
import { openGuardrails } from "../compose/open-guardrails.ts";
import { openLinks } from "../compose/open-links.ts";
import { openTelemetry, type Telemetry } from "../compose/open-telemetry.ts";
import { openOwnKeys } from "../compose/own-keys/open-own-keys.ts";
import { markOwnKeys, withoutOwnKeys } from "../compose/own-keys/own-keys-mark.ts";
import { openWorkplace, type Workplace } from "../compose/workplace.ts";
import { exitCodes } from "../exit-code.ts";
import { type SecretsOptions, settingsWithSecrets } from "../flags.ts";
import { passphraseVariable } from "../secrets/passphrase.ts";
import { authentication } from "../serve/authentication.ts";
import { errorLogger } from "../serve/error-logger.ts";
import { createRunLogger } from "../serve/run-logger.ts";
import { type RunFlags, runSettings } from "../serve/run-settings.ts";
import { checkSeparateSecrets } from "../serve/separate-secrets.ts";
import { serve } from "../serve/serve.ts";
import type { ServeParts } from "../serve/serve-parts.ts";
import type { Settings } from "../settings/settings.ts";

/** What another command that serves decides. */
export interface RunOptions extends Pick<SecretsOptions, "passphraseFor"> {
  /** Called once it serves; without an address where it does not listen. */
  readonly onReady?: (url: string | undefined) => void;
}

/**
 * Serves the page and the API, or runs sessions, until the process is asked to end; returns the exit code.
 * @throws AgentError CONFIG_INVALID, MODEL_KEY_MISSING, STORE_*
 */
export async function run(flags: RunFlags, { onReady, ...options }: RunOptions = {}): Promise<number> {
  const settings = await settingsWithSecrets(flags, { logger: errorLogger, ...options });
  // Children of tools would inherit it.
  delete process.env[passphraseVariable];
  const { values } = settings.configuration;
  const wishes = runSettings(values, settings);
  checkSeparateSecrets(wishes, settings.environment);
  const logger = createRunLogger({ isJson: values.json === true, stdout: process.stdout, stderr: process.stderr });
  const links = await openLinks(settings, logger);
  try {
    const ownKeys = wishes.takesOwnKeys ? await openOwnKeys(settings) : undefined;
    try {
      return await runWith({ settings, wishes, logger, links, ownKeys, onReady });
    } finally {
      await ownKeys?.close();
    }
  } finally {
    await links.close();
  }
}

interface OpenedParts extends Pick<ServeParts, "wishes" | "logger" | "links" | "ownKeys" | "onReady"> {
  readonly settings: Settings;
}

async function runWith({ settings, wishes, logger, links, ownKeys, onReady }: OpenedParts): Promise<number> {
  let telemetry: Telemetry | undefined;
  const watch = (provider: ModelProvider): ModelProvider => lateWatch(provider, () => telemetry);
  const preferences = ownKeys ? { preferences: ownKeys.preferences } : {};
  const guardrails = await openGuardrails(settings.configuration.values);
  for (const warning of guardrails.warnings) logger.log("warn", warning);
  let workplace: Workplace | undefined;
  try {
    workplace = await openWorkplace(settings, {
      ...{ isAttended: false, surface: "web page", offersAll: true, watch, logger, guard: guardrails.guard },
      ...preferences,
    });
    const { store } = workplace;
    const resolveModel = ownKeys ? ownKeys.resolveModel : await withoutOwnKeys(store);
    if (ownKeys) await markOwnKeys(store);
    telemetry = await openTelemetry(settings.configuration.values, store, logger);
    const callers = await authentication({ wishes, store, logger });
    await serve({ workplace, links, telemetry, wishes, authentication: callers, logger, ownKeys, resolveModel, onReady });
    return exitCodes.ok;
  } finally {
    await telemetry?.close();
    await workplace?.close();
    guardrails.close();
  }
}

/** Telemetry needs the store, which is opened with the agents: the provider is watched from its first request on. */
function lateWatch(provider: ModelProvider, telemetry: () => Telemetry | undefined): ModelProvider {
  let watched: ModelProvider | undefined;
  return {
    ...provider,
    capabilities: (model) => provider.capabilities(model),
    ...(provider.checkTools ? { checkTools: (tools) => provider.checkTools?.(tools) } : {}),
    stream(request, io) {
      watched ??= telemetry()?.watch(provider) ?? provider;
      return watched.stream(request, io);
    },
  };
}
