import { AgentError } from "@loopwright/core";

/** Every limit of a host, with its default. */
export interface HostLimits {
  /** How long a session that nobody uses stays loaded, and how many may. */
  readonly sessionIdleMs: number;
  readonly sessionsLoaded: number;
  /** How often the store itself is looked at: whether it is fit to hold sessions. */
  readonly probeMs: number;
  /** How long runs may take to end when a node is to go, before they are handed over. */
  readonly drainMs: number;
  /** Sessions that a worker keeps at once because it was told of them. */
  readonly workerSessions: number;
  /** So often at least a worker looks for sessions that nobody told it of; it looks up to a fifth sooner. */
  readonly sweepMs: number;
  /** The same for a worker without a queue: nobody tells it of any. */
  readonly pollMs: number;
  /** Sessions that one sweep finds at most; the next one goes on behind them. */
  readonly sessionsPerSweep: number;
  /** How long the sweeps of a worker leave a session alone that cannot be opened: at first, and at most. */
  readonly reopenMs: number;
  readonly reopenMaxMs: number;
}

export const defaultHostLimits: HostLimits = {
  sessionIdleMs: 60_000,
  sessionsLoaded: 1_000,
  probeMs: 5_000,
  drainMs: 30_000,
  workerSessions: 100,
  sweepMs: 3_000,
  pollMs: 250,
  sessionsPerSweep: 500,
  reopenMs: 10_000,
  reopenMaxMs: 600_000,
};

/** Passes if every limit is a whole number from 1 on. @throws AgentError CONFIG_INVALID that names the limit */
export function checkLimits(limits: { readonly [name: string]: unknown }): void {
  for (const [name, value] of Object.entries(limits))
    if (!Number.isInteger(value) || (value as number) < 1)
      throw new AgentError("CONFIG_INVALID", { message: `\`limits.${name}\` is ${String(value)}.`, fix: "Use a whole number from 1 on." });
}
