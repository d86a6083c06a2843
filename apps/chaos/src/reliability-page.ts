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

/** The page of all figures. */
export function reliabilityPage(results: KeptResults): string {
  const sections = Object.keys(results)
    .sort()
    .map((name) => sectionOf(name, results[name] as KeptResult));
  return `${intro}\n${sections.join("\n")}`;
}

function sectionOf(name: string, { tier, seed, date, commit, node, seconds, figures, failures }: KeptResult): string {
  const rows = figures.map((figure) => `| ${figure.name} | ${valueText(figure)} | ${boundOf(figure)} |`);
  const flaws =
    failures.length === 0
      ? ""
      : `\n${failures.length} failures, the first: \`${(failures[0] ?? "").replaceAll("`", "'").slice(0, 200)}\`\n`;
  return `## ${name}

${date}, commit ${commit}, Node.js ${node}, tier \`${tier}\`, seed ${seed}, ${seconds} s.

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
