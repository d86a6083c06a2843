import { AgentError } from "@loopwright/core";
import { checkLimits } from "@loopwright/host";
import type { HttpOptions } from "./server-options.ts";

/** Passes if a server can work with the options. @throws AgentError CONFIG_INVALID */
export function checkOptions({ basePath = "", limits = {}, origins = [] }: HttpOptions): void {
  if (!/^(?:\/[A-Za-z0-9._~-]+)*$/.test(basePath)) {
    const fix = "Use one like `/agents`, without a slash at its end.";
    throw new AgentError("CONFIG_INVALID", { message: "`basePath` is no path.", fix });
  }
  for (const origin of origins)
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      const fix = "Use ones like `https://app.example.com`, without a path.";
      throw new AgentError("CONFIG_INVALID", { message: "`origins` holds what is no origin.", fix });
    }
  checkLimits(limits);
}
