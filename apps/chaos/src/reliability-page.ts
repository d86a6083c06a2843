import { type Figure, isWithin } from "./experiments/experiment.ts";

/** What one experiment found, as it is kept. */
export interface KeptResult {
  readonly tier: string;
  readonly seed: number;
  /** Day, as in 2026-11-21. */
  readonly date: string;
  readonly commit: string;
  readonly node: string;
  readonly seconds: number;
  readonly figures: readonly Figure[];
  readonly failures: readonly string[];
}

export type KeptResults = { readonly [experiment: string]: KeptResult };

const intro = `# Reliability

What [the rig](../apps/chaos/README.md) has measured: real processes that are killed, paused, cut off and starved, and simulated ones by the
thousand, judged by a checker that knows nothing of the code it judges. Made by \`npm run chaos -- --tier <tier> --seed <seed> --write\`; do not
edit. A figure with a bound was held to it; **missed** says where it was not. Machine: 2 cores, all processes of a run on it.
`;

/** What every section of one run shares. */
type Run = Pick<KeptResult, "tier" | "seed" | "date" | "commit">;

const runText = ({ tier, seed, date, commit }: Run): string => `tier \`${tier}\`, seed ${seed}, ${date}, commit ${commit}`;

/** The page of all figures. It is of the run that most of them are from; sections of another commit say so. */
export function reliabilityPage(results: KeptResults): string {
  const names = Object.keys(results).sort();
  const kept = names.map((name) => results[name] as KeptResult);
  const run = mainRun(kept);
  const sections = names.map((name) => sectionOf(name, results[name] as KeptResult, run?.commit));
  return `${intro}\n${run ? `${runLine(run, kept)}\n\n` : ""}${sections.join("\n")}`;
}

/** The run that most results are of; of two the later one. */
function mainRun(kept: readonly KeptResult[]): Run | undefined {
  const groups = [...Map.groupBy(kept, runText).values()];
  groups.sort(([a, ...more], [b, ...others]) => others.length - more.length || (a && b && a.date < b.date ? 1 : -1));
  return groups[0]?.[0];
}

function runLine(run: Run, kept: readonly KeptResult[]): string {
  const foreign = kept.filter(({ commit }) => commit !== run.commit);
  const commits = [...new Set(foreign.map(({ commit }) => commit))].sort().join(", ");
  const others =
    foreign.length === 0 ? "" : ` ${foreign.length} of the ${kept.length} sections are of other commits (${commits}), and say so.`;
  return `**Run**: ${runText(run)}.${others}`;
}

function sectionOf(name: string, result: KeptResult, pageCommit: string | undefined): string {
  const { tier, seed, date, commit, node, seconds, figures, failures } = result;
  const isForeign = commit !== pageCommit ? " (**another commit than the run above**)" : "";
  const rows = figures.map((figure) => `| ${figure.name} | ${valueText(figure)} | ${boundOf(figure)} |`);
  const flaws =
    failures.length === 0
      ? ""
      : `\n${failures.length} failures, the first: \`${(failures[0] ?? "").replaceAll("`", "'").slice(0, 200)}\`\n`;
  return `## ${name}

${date}, commit ${commit}${isForeign}, Node.js ${node}, tier \`${tier}\`, seed ${seed}, ${seconds} s.

| figure | measured | bound |
|---|---|---|
${rows.join("\n")}
${flaws}`;
}

const number = (value: number): string => value.toLocaleString("en-US");

const valueText = ({ value, unit }: Figure): string => `${number(value)}${unit === undefined ? "" : ` ${unit}`}`;

function boundOf(figure: Figure): string {
  const { bound } = figure;
  if (!bound) return "";
  const wanted =
    "most" in bound
      ? `at most ${number(bound.most)}`
      : "least" in bound
        ? `at least ${number(bound.least)}`
        : `exactly ${number(bound.exactly)}`;
  return isWithin(figure) ? wanted : `${wanted}: **missed**`;
}
