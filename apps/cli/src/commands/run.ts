import type { Agent } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";
import { withMockTools } from "../compose/mock-tools.ts";
import { openGuardrails } from "../compose/open-guardrails.ts";
import { openLinks } from "../compose/open-links.ts";
import { openTelemetry, type Telemetry } from "../compose/open-telemetry.ts";
import { openOwnKeys } from "../compose/own-keys/open-own-keys.ts";
import { openRetention } from "../compose/own-keys/open-retention.ts";
import { markOwnKeys, withoutOwnKeys } from "../compose/own-keys/own-keys-mark.ts";
import { openWorkplace, type Workplace } from "../compose/workplace.ts";
import type { Environment } from "../config/environment.ts";
import { exitCodes } from "../exit-code.ts";
import { type SecretsOptions, settingsWithSecrets } from "../flags.ts";
import { childEnvironment } from "../secrets/child-environment.ts";
import { type PassphraseSource, passphraseSource, passphraseVariable } from "../secrets/passphrase.ts";
import { authentication } from "../serve/authentication.ts";
import { errorLogger } from "../serve/error-logger.ts";
import { runReloadable } from "../serve/reloadable.ts";
import { createRunLogger } from "../serve/run-logger.ts";
import { type RunFlags, runSettings } from "../serve/run-settings.ts";
import { checkSeparateSecrets } from "../serve/separate-secrets.ts";
import { serve } from "../serve/serve.ts";
import type { ServeParts } from "../serve/serve-parts.ts";
import type { Settings } from "../settings/settings.ts";

/** What another command that serves decides. */
export interface RunOptions extends Pick<SecretsOptions, "passphraseFor"> {
  /** Called each time that it serves; without an address where it does not listen. */
  readonly onReady?: (url: string | undefined) => void;
}

/**
 * Serves the page and the API, or runs sessions, until the process is asked to end; returns the exit code. Without a terminal SIGHUP has the settings read
 * again; with one it means that the terminal was closed.
 * @throws AgentError CONFIG_INVALID, MODEL_KEY_MISSING, STORE_*
 */
export async function run(flags: RunFlags, { onReady, passphraseFor = passphraseSource }: RunOptions = {}): Promise<number> {
  let passphrase: PassphraseSource | undefined;
  // The passphrase is asked for once; a file of secrets that comes later is opened with the same.
  const remembered = (environment: Environment): PassphraseSource => {
    passphrase ??= passphraseFor(environment);
    return passphrase;
  };
  const load = async (): Promise<Settings> => settingsWithSecrets(flags, { logger: errorLogger, passphraseFor: remembered });
  let first: Settings | undefined = await load();
  // Children of tools would inherit it.
  delete process.env[passphraseVariable];
  const logger = createRunLogger({ isJson: first.configuration.values.json === true, stdout: process.stdout, stderr: process.stderr });
  let port: number | undefined;
  await runReloadable({
    logger,
    reloads: process.stdin.isTTY !== true,
    load: async () => {
      const settings = first ?? (await load());
      first = undefined;
      return settings;
    },
    runWith: async (settings, { reload, onReady: onServing }) => {
      const asked = runSettings(settings.configuration.values, settings);
      checkSeparateSecrets(asked, settings.environment);
      // Callers find it where it was, unless another port is asked for.
      const wishes = port === undefined || (asked.isPortFixed && asked.port !== 0) ? asked : { ...asked, port, isPortFixed: true };
      await runWith({
        ...{ settings, wishes, logger, reload },
        onReady: (url) => {
          if (url !== undefined) port = Number(new URL(url).port);
          onServing();
          onReady?.(url);
        },
      });
    },
  });
  return exitCodes.ok;
}

interface OpenedParts extends Pick<ServeParts, "wishes" | "logger" | "onReady" | "reload"> {
  readonly settings: Settings;
}

async function runWith(parts: OpenedParts): Promise<void> {
  const { settings, wishes, logger } = parts;
  const links = await openLinks(settings, logger);
  try {
    const ownKeys = wishes.takesOwnKeys ? await openOwnKeys(settings) : undefined;
    const { retention, ...rules } = openRetention(settings, wishes.retention);
    try {
      await serveWith({ ...parts, links, ownKeys, retention });
    } finally {
      await rules.close();
      await ownKeys?.close();
    }
  } finally {
    await links.close();
  }
}

async function serveWith({
  settings,
  wishes,
  logger,
  links,
  ownKeys,
  retention,
  onReady,
  reload,
}: OpenedParts & Pick<ServeParts, "links" | "ownKeys" | "retention">): Promise<void> {
  const { KUBECONFIG: kubeconfig } = await childEnvironment(settings);
  // Tools that start children by themselves find a path there, too.
  if (kubeconfig !== undefined) process.env["KUBECONFIG"] = kubeconfig;
  let telemetry: Telemetry | undefined;
  const watch = (provider: ModelProvider): ModelProvider => lateWatch(provider, () => telemetry);
  const preferences = ownKeys ? { preferences: ownKeys.preferences } : {};
  const guardrails = await openGuardrails(settings.configuration.values);
  for (const warning of guardrails.warnings) logger.log("warn", warning);
  const isMocked = settings.configuration.values.mockTools === true;
  if (isMocked) logger.log("warn", "WARNING: tools are mocked (--mock-tools): no tool of this server runs.");
  const guard = (agent: Agent): Agent => guardrails.guard(isMocked ? withMockTools(agent) : agent);
  let workplace: Workplace | undefined;
  try {
    workplace = await openWorkplace(settings, {
      ...{ isAttended: false, surface: "web page", offersAll: true, watch, logger, guard },
      ...preferences,
    });
    const { store } = workplace;
    const resolveModel = ownKeys ? ownKeys.resolveModel : await withoutOwnKeys(store);
    if (ownKeys) await markOwnKeys(store);
    telemetry = await openTelemetry(settings.configuration.values, store, logger);
    const callers = await authentication({ wishes, store, logger });
    const shared = { workplace, links, telemetry, wishes, authentication: callers, logger };
    await serve({ ...shared, ownKeys, retention, resolveModel, onReady, reload });
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
