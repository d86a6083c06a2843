import { AgentError } from "@loopwright/core";

/** Every limit of a host, with its default. */
export interface HostLimits {
  /** How long a session without users stays loaded. */
  readonly sessionIdleMs: number;
  /** Sessions loaded at once; beyond that the sessions that were idle longest are evicted. */
  readonly sessionsLoaded: number;
  /** The interval between two probes, which check whether the store is fit to hold sessions. */
  readonly probeMs: number;
  /** How long runs may take to end when a node shuts down, before they are handed over. */
  readonly drainMs: number;
  /** Sessions that a worker runs at once because of hints. */
  readonly workerSessions: number;
  /** The interval between two sweeps of a worker for sessions without a hint. A sweep may come up to a fifth sooner. */
  readonly sweepMs: number;
  /** The same interval for a worker without a queue, which gets no hints. */
  readonly pollMs: number;
  /** The most sessions that one sweep finds; the next sweep continues after them. */
  readonly sessionsPerSweep: number;
  /** The interval between two sweeps for the `retention` of scopes. A sweep may come up to a fifth sooner. */
  readonly retentionSweepMs: number;
  /** How long the sweeps of a worker skip a session that could not be opened; doubled after each further failure. */
  readonly reopenMs: number;
  /** The longest time for which a session is skipped. */
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
  retentionSweepMs: 60_000,
  reopenMs: 10_000,
  reopenMaxMs: 600_000,
};

/** Passes if every limit is a whole number from 1 on. @throws AgentError CONFIG_INVALID that names the limit */
export function checkLimits(limits: { readonly [name: string]: unknown }): void {
  for (const [name, value] of Object.entries(limits))
    if (!Number.isInteger(value) || (value as number) < 1)
      throw new AgentError("CONFIG_INVALID", { message: `\`limits.${name}\` is ${String(value)}.`, fix: "Use a whole number from 1 on." });
}
