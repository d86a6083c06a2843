import type { Agent, CallGuard } from "@loopwright/core";
import type { Logger } from "@loopwright/core/ports";
import { createFailover } from "@loopwright/failover";
import type { Settings } from "../settings/settings.ts";
import { openRecords } from "./own-keys/own-keys-places.ts";

/** The circuits of models with fallbacks. */
export interface Failover {
  /** Absent: no agent has a fallback, and the process guards its calls alone. */
  readonly callGuard?: CallGuard;
  close(): Promise<void>;
}

/**
 * Circuits that all processes on the store share, where an agent has a fallback: in `.loopwright/settings.db`, or in the Redis or bucket of the sessions.
 * @throws AgentError CONFIG_INVALID, STORE_UNAVAILABLE
 */
export async function openFailover(
  settings: Pick<Settings, "filesDirectory" | "environment" | "store">,
  agents: readonly Agent[],
  logger: Logger | undefined,
): Promise<Failover> {
  if (!agents.some(({ chain }) => chain.length > 1)) return { close: async () => {} };
  const { records, close } = await openRecords(settings);
  return { callGuard: createFailover({ records, ...(logger ? { logger } : {}) }), close };
}
