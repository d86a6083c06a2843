import type { SimulateOptions } from "../world/expand-options.ts";
import type { Sabotage } from "../world/simulated-world.ts";
import { type SimulationReport, simulateWith } from "./simulate.ts";

/** One figure per name, summed over all runs. */
export type Figures = { readonly [name in keyof SimulationReport["figures"]]: number };

export interface RunSeedsOptions extends Omit<SimulateOptions, "seed" | "trace"> {
  /** First seed. */
  readonly from: number;
  readonly count: number;
  /** Real milliseconds after which no further seed is begun. Default: none. */
  readonly limitMs?: number;
  /** Failures after which no further seed is begun. Default 20. */
  readonly failuresMax?: number;
  /** Called after every seed. */
  readonly onReport?: (report: SimulationReport) => void;
}

export interface SeedsReport {
  /** Seeds that ran. */
  readonly count: number;
  readonly calmCount: number;
  readonly seconds: number;
  readonly figures: Figures;
  /** Reports with findings: each has its seed, the decisions of the seed and a line that runs it again. */
  readonly failures: readonly SimulationReport[];
}

/** Simulates one seed after the other. */
export function runSeeds(options: RunSeedsOptions): Promise<SeedsReport> {
  return runSeedsWith(options, undefined);
}

export async function runSeedsWith(options: RunSeedsOptions, sabotage: Sabotage | undefined): Promise<SeedsReport> {
  const { from, count, limitMs = Number.POSITIVE_INFINITY, failuresMax = 20, onReport, ...simulation } = options;
  const startedAt = performance.now();
  const failures: SimulationReport[] = [];
  const sums: Record<string, number> = {};
  let done = 0;
  let calmCount = 0;
  for (let seed = from; seed < from + count && failures.length < failuresMax; seed++) {
    if (performance.now() - startedAt > limitMs) break;
    const report = await simulateWith({ ...simulation, seed }, sabotage ? { sabotage } : {});
    done += 1;
    if (report.options.calm) calmCount += 1;
    for (const [name, value] of Object.entries(report.figures)) sums[name] = (sums[name] ?? 0) + value;
    if (report.findings.length > 0) failures.push(report);
    onReport?.(report);
  }
  return { count: done, calmCount, seconds: (performance.now() - startedAt) / 1_000, figures: sums as Figures, failures };
}

/** A failure as a person reads it: what broke, what the seed decided, and one line that does it again. */
export function describeFailure({ seed, findings, options, replay }: SimulationReport): string {
  const lines = findings.slice(0, 10).map(({ invariant, session, message }) => `  ${invariant} ${session}: ${message}`);
  return [`seed ${seed}`, ...lines, `  options: ${JSON.stringify(options)}`, `  replay: ${replay}`].join("\n");
}
