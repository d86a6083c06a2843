import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Experiment, type Figure, isWithin, type Outcome } from "./experiments/experiment.ts";
import { type KeptResult, reliabilityPage } from "./reliability-page.ts";
import type { Tier } from "./tiers.ts";

export interface RigRun {
  readonly experiments: readonly Experiment[];
  readonly tier: Tier;
  readonly seed: number;
  /** Writes the figures into the reliability page. */
  readonly write: boolean;
}

function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return "unknown";
  }
}

const madeBy = (): Pick<KeptResult, "date" | "commit" | "node"> => ({
  date: new Date().toISOString().slice(0, 10),
  commit: commit(),
  node: process.version,
});

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Puts one result into the page, which keeps those of the other experiments. */
function keep(name: string, result: KeptResult): void {
  const file = fileOf("../../../docs/reliability.md");
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  writeFileSync(file, reliabilityPage(before, name, result));
}

const failuresShown = 20;
/** How long a whole tier may take. */
const totalSecondsMax: { readonly [tier in Tier]?: number } = { pr: 400 };

/** Runs them one after another, those that may run beside others beside them, and prints what they measured; true when nothing was wrong. */
export async function runExperiments({ experiments, tier, seed, write }: RigRun): Promise<boolean> {
  const say = (line: string): void => console.log(line);
  say(`Tier ${tier}, seed ${seed}, commit ${commit()}, Node.js ${process.version}`);
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const begunAt = performance.now();
  const runOne = async (experiment: Experiment): Promise<void> => {
    const reason = experiment.skip?.();
    if (reason !== undefined) {
      counts.skipped += 1;
      return say(`\nSKIP ${experiment.name}: ${reason}`);
    }
    const startedAt = performance.now();
    const outcome = await attempt(experiment, seed, say);
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    if (write) keep(experiment.name, { tier, seed, ...madeBy(), seconds, ...outcome });
    const isGood = notify(experiment.name, { outcome, seconds, say });
    if (!isGood) say(`  again: npm run chaos -- --tier ${tier} --seed ${seed} --only ${experiment.name}`);
    counts[isGood ? "passed" : "failed"] += 1;
  };
  const beside = experiments.filter(({ isBeside }) => isBeside).map(runOne);
  const others = experiments.filter(({ isBeside }) => !isBeside);
  for (const experiment of others.filter(({ isTimed }) => !isTimed)) await runOne(experiment);
  await Promise.all(beside);
  for (const experiment of others.filter(({ isTimed }) => isTimed)) await runOne(experiment);
  const totalSeconds = Math.round((performance.now() - begunAt) / 1_000);
  const most = totalSecondsMax[tier];
  const isLate = most !== undefined && totalSeconds > most;
  if (isLate) counts.failed += 1;
  say(`\n${isLate ? "FAIL " : ""}all together: ${totalSeconds} s${most === undefined ? "" : ` (at most ${most})`}`);
  say(`${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ""}`);
  return counts.failed === 0;
}

/** Prints what came out; true when it is as it should be. */
function notify(
  name: string,
  { outcome, seconds, say }: { readonly outcome: Outcome; readonly seconds: number; readonly say: (line: string) => void },
): boolean {
  const { figures, failures } = outcome;
  const isGood = failures.length === 0 && figures.every(isWithin);
  say(`\n${isGood ? "PASS" : "FAIL"} ${name} (${seconds} s)`);
  for (const figure of figures) say(`  ${lineOf(figure)}`);
  for (const failure of failures.slice(0, failuresShown)) say(`  ! ${failure}`);
  if (failures.length > failuresShown) say(`  ! and ${failures.length - failuresShown} more`);
  return isGood;
}

async function attempt(experiment: Experiment, seed: number, say: (line: string) => void): Promise<Outcome> {
  try {
    return await experiment.run(seed, say);
  } catch (error) {
    return {
      figures: [],
      failures: [`it could not be carried out: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`],
    };
  }
}

function lineOf(figure: Figure): string {
  const { name, value, unit, bound } = figure;
  const wanted = !bound
    ? ""
    : "most" in bound
      ? ` (at most ${bound.most})`
      : "least" in bound
        ? ` (at least ${bound.least})`
        : ` (exactly ${bound.exactly})`;
  return `${isWithin(figure) ? " " : "!"} ${name}: ${value}${unit === undefined ? "" : ` ${unit}`}${wanted}`;
}
