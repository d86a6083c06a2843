import { AgentError } from "@loopwright/core";
import type { Environment } from "../config/environment.ts";
import { variables } from "../config/variables.ts";
import type { RunSettings } from "./run-settings.ts";

/**
 * Refuses a token of callers that is also a key of something else: a vendor that gets its key with each call could then call this server, and each caller could
 * spend from the account of the vendor. @throws AgentError CONFIG_INVALID, which names both places and neither value
 */
export function checkSeparateSecrets({ token, auth }: Pick<RunSettings, "token" | "auth">, environment: Environment): void {
  const tokens = [
    ["--token or LOOPWRIGHT_TOKEN", token],
    ["--internal-token or LOOPWRIGHT_INTERNAL_TOKEN", auth?.internalToken],
  ] as const;
  for (const [source, text] of tokens)
    for (const { name, isSecret } of variables) {
      if (!isSecret || text === undefined) continue;
      const values = (environment[name] ?? "").split(",").map((value) => value.trim());
      if (!values.includes(text)) continue;
      throw new AgentError("CONFIG_INVALID", {
        message: `The token of ${source} is also the value of ${name}.`,
        fix: "Take a text of its own for the callers of the server, such as `openssl rand -hex 24` prints.",
      });
    }
}
