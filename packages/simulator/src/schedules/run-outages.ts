/*
 * Owns: outages of the store at every moment between two renewals of a lease.
 */
import type { Finding } from "../check/finding.ts";
import { type Outage, type OutageKind, runOutage } from "./outage.ts";

export interface OutagesOptions {
  /** How long the store is unreachable. Default 10,000: the promised length of an outage without cost. */
  readonly lastsMs?: number;
  /** The interval between the moments at which outages begin. Default 250. */
  readonly stepMs?: number;
}

export interface OutageFailure {
  readonly outage: Outage;
  readonly findings: readonly Finding[];
}

export interface OutagesReport {
  readonly outages: number;
  readonly failures: readonly OutageFailure[];
}

/** Longer than any period of renewals. */
const [fromMs, toMs] = [8_000, 16_000];
const kinds: readonly OutageKind[] = ["refuses", "silent"];

/** Takes the store away from an owner, once at each moment. */
export async function runOutages({ lastsMs = 10_000, stepMs = 250 }: OutagesOptions = {}): Promise<OutagesReport> {
  const failures: OutageFailure[] = [];
  let outages = 0;
  for (const kind of kinds)
    for (let atMs = fromMs; atMs < toMs; atMs += stepMs) {
      const outage: Outage = { kind, atMs, lastsMs };
      const findings = await runOutage(outage);
      outages += 1;
      if (findings.length > 0) failures.push({ outage, findings });
    }
  return { outages, failures };
}
