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

const intro = `# Reliability

What [the rig](../apps/chaos/README.md) has measured: real processes that are killed, paused, cut off and starved, and simulated ones by the
thousand, judged by a checker that knows nothing of the code it judges. Made by \`npm run chaos -- --tier <tier> --seed <seed> --write\`; do not
edit. A figure with a bound was held to it; **missed** marks those that were not. Machine: 2 cores, all processes of a run on it.
`;

/** A section of the page: what it is of, and its rows as they are. */
interface Section extends Pick<KeptResult, "tier" | "seed" | "date" | "commit" | "node" | "seconds"> {
  readonly name: string;
  readonly rows: string;
}

const otherCommit = " (**another commit than the run above**)";
const heading = /^## (.+)\n\n(\S+), commit (\S+?)(?: \(\*\*[^*]+\*\*\))?, Node\.js (\S+), tier `(\w+)`, seed (\d+), (\d+) s\.\n\n/;

/** The page with this result in place of an older one of the same experiment. The page itself is what is kept of the others. */
export function reliabilityPage(page: string, name: string, result: KeptResult): string {
  const others = sectionsIn(page).filter((section) => section.name !== name);
  return pageOf([...others, sectionOf(name, result)].sort((one, other) => (one.name < other.name ? -1 : 1)));
}

/** The sections of a page that was made here; what is none is left out. */
export function sectionsIn(page: string): readonly Section[] {
  return page.split(/^(?=## )/m).flatMap((text) => {
    const [head, name = "", date = "", commit = "", node = "", tier = "", seed, seconds] = heading.exec(text) ?? [];
    if (head === undefined) return [];
    return [{ name, date, commit, node, tier, seed: Number(seed), seconds: Number(seconds), rows: text.slice(head.length).trimEnd() }];
  });
}

/** The page of these sections. It is of the run that most of them are from; sections of another commit name it. */
export function pageOf(sections: readonly Section[]): string {
  const run = mainRun(sections);
  const texts = sections.map((section) => textOf(section, section.commit === run?.commit ? "" : otherCommit));
  return `${intro}\n${run ? `${runLine(run, sections)}\n\n` : ""}${texts.join("\n")}`;
}

/** What every section of one run shares. */
type Run = Pick<Section, "tier" | "seed" | "date" | "commit">;

const runText = ({ tier, seed, date, commit }: Run): string => `tier \`${tier}\`, seed ${seed}, ${date}, commit ${commit}`;

/** The run that most sections are of; of two the later one. */
function mainRun(kept: readonly Section[]): Run | undefined {
  const groups = [...Map.groupBy(kept, runText).values()];
  groups.sort(([a, ...more], [b, ...others]) => others.length - more.length || (a && b && a.date < b.date ? 1 : -1));
  return groups[0]?.[0];
}

function runLine(run: Run, kept: readonly Section[]): string {
  const foreign = kept.filter(({ commit }) => commit !== run.commit);
  const commits = [...new Set(foreign.map(({ commit }) => commit))].sort().join(", ");
  const others =
    foreign.length === 0 ? "" : ` ${foreign.length} of the ${kept.length} sections are of other commits (${commits}), and are marked so.`;
  return `**Run**: ${runText(run)}.${others}`;
}

function textOf({ name, date, commit, node, tier, seed, seconds, rows }: Section, remark: string): string {
  return `## ${name}\n\n${date}, commit ${commit}${remark}, Node.js ${node}, tier \`${tier}\`, seed ${seed}, ${seconds} s.\n\n${rows}\n`;
}

function sectionOf(name: string, { figures, failures, ...run }: KeptResult): Section {
  const rows = ["| figure | measured | bound |", "|---|---|---|"];
  rows.push(...figures.map((figure) => `| ${figure.name} | ${valueText(figure)} | ${boundOf(figure)} |`));
  if (failures.length > 0) rows.push("", flawsText(failures));
  return { ...run, name, rows: rows.join("\n") };
}

const flawsText = (failures: readonly string[]): string =>
  `${failures.length} failures, the first: \`${(failures[0] ?? "").replaceAll("`", "'").replaceAll(/\s+/g, " ").slice(0, 200)}\``;

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
