/*
 * Owns: that a process takes another configuration at SIGHUP, and keeps the one that it has where the other is wrong or does not start.
 * Does not own: how settings are read, and what is made of them.
 */
import { AgentError } from "@loopwright/core";
import { complaintOf } from "../complaint.ts";
import { createChain } from "../compose/create-provider.ts";
import { openGuardrails } from "../compose/open-guardrails.ts";
import type { Settings } from "../settings/settings.ts";
import type { RunLogger } from "./run-logger.ts";
import { runSettings } from "./run-settings.ts";
import { checkSeparateSecrets } from "./separate-secrets.ts";

/** How a process with one configuration is run. */
export interface ReloadableRun {
  /** Reads the settings as they are now. */
  readonly load: () => Promise<Settings>;
  /** Runs with them until the process ends, or until `reload` has given true. `onReady` is called once it serves. */
  readonly runWith: (
    settings: Settings,
    hooks: { readonly reload: (() => Promise<boolean>) | undefined; readonly onReady: () => void },
  ) => Promise<void>;
  readonly logger: RunLogger;
  /** False: SIGHUP ends the process. */
  readonly reloads: boolean;
}

/** Runs with one configuration after another. @throws AgentError of the first start, and of one after which the earlier configuration does not start either */
export async function runReloadable(parts: ReloadableRun): Promise<void> {
  // Between two configurations nothing else listens, and the system would end the process.
  const ignored = (): void => {};
  if (parts.reloads) process.on("SIGHUP", ignored);
  try {
    await runEach(parts);
  } finally {
    process.off("SIGHUP", ignored);
  }
}

async function runEach({ load, runWith, logger, reloads }: ReloadableRun): Promise<void> {
  let settings = await load();
  let earlier: Settings | undefined;
  for (;;) {
    let next: Settings | undefined;
    let isServing = false;
    const reload = async (): Promise<boolean> => {
      next ??= await checked(load, logger);
      return next !== undefined;
    };
    try {
      await runWith(settings, {
        reload: reloads ? reload : undefined,
        onReady: () => {
          isServing = true;
        },
      });
    } catch (error) {
      if (isServing || earlier === undefined) throw error;
      logger.log("error", `The new configuration does not start, so the earlier one is taken again. ${sentenceOf(error)}`);
      settings = earlier;
      earlier = undefined;
      continue;
    }
    if (!next) return;
    logger.notify("reloading", ["The configuration was read again."]);
    earlier = settings;
    settings = next;
  }
}

/** The settings as they are now, where a process can be made of them. */
async function checked(load: () => Promise<Settings>, logger: RunLogger): Promise<Settings | undefined> {
  try {
    const settings = await load();
    const { values } = settings.configuration;
    checkSeparateSecrets(runSettings(values, settings), settings.environment);
    await createChain(settings);
    (await openGuardrails(values)).close();
    return settings;
  } catch (error) {
    logger.log("error", `The configuration was not reloaded, and the one of before holds. ${sentenceOf(error)}`);
    return undefined;
  }
}

function sentenceOf(error: unknown): string {
  const [what] = complaintOf(error);
  return error instanceof AgentError && error.fix !== "" ? `${what} ${error.fix}` : what;
}
