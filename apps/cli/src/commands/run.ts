import { openLinks } from "../compose/open-links.ts";
import { openWorkplace } from "../compose/workplace.ts";
import { exitCodes } from "../exit-code.ts";
import { settingsOf } from "../flags.ts";
import { createRunLogger } from "../serve/run-logger.ts";
import { type RunFlags, runSettings } from "../serve/run-settings.ts";
import { serve } from "../serve/serve.ts";

/**
 * Serves the page and the API, or runs sessions, until the process is asked to end; returns the exit code.
 * @throws AgentError CONFIG_INVALID, MODEL_KEY_MISSING, STORE_*
 */
export async function run(flags: RunFlags): Promise<number> {
  const settings = await settingsOf(flags);
  const wishes = runSettings(flags, settings);
  const logger = createRunLogger({ isJson: flags.json === true, stdout: process.stdout, stderr: process.stderr });
  const links = await openLinks(settings, logger);
  try {
    const workplace = await openWorkplace(settings, { isAttended: false, surface: "web page", offersAll: true, logger });
    try {
      await serve({ workplace, links, wishes, logger });
      return exitCodes.ok;
    } finally {
      await workplace.store.close();
    }
  } finally {
    await links.close();
  }
}
