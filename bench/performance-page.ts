import { printTable } from "./print-table.ts";
import type { ProfileSummary, Share } from "./profile-summary.ts";
import { isMissedRow, type Row } from "./row.ts";
import { tried } from "./tried.ts";

export interface Machine {
  readonly date: string;
  readonly commit: string;
  readonly cpu: string;
  readonly cores: number;
  readonly platform: string;
  readonly node: string;
  readonly rounds: number;
}

/** A profile and what it is of. */
export interface Profiled {
  readonly title: string;
  readonly profile: ProfileSummary;
}

const packagesShown = 8;
const functionsShown = 10;

const percent = ({ name, share }: Share): string => `${name} ${(share * 100).toFixed(0)} %`;

/** One profile as Markdown. */
export function profileText({ title, profile }: Profiled): string {
  const { packages, functions } = profile;
  return `### ${title}

By package: ${packages.slice(0, packagesShown).map(percent).join(", ")}.

${functions
  .slice(0, functionsShown)
  .map((share) => `- ${percent(share)}`)
  .join("\n")}
`;
}

/** What was tried for the rows that miss their goal. */
function triedText(rows: readonly Row[]): string {
  const missed = rows.filter(isMissedRow);
  const notes = Object.entries(tried).filter(([start]) => missed.some(({ id }) => id.startsWith(start)));
  if (notes.length === 0) return "";
  return `\n## What was tried\n\n${notes.map(([start, text]) => `**${start}**: ${text}`).join("\n\n")}\n`;
}

/** The whole of docs/performance.md. */
export function performancePage(machine: Machine, rows: readonly Row[], profiles: readonly Profiled[]): string {
  return `# Performance

Made by \`npm run bench -- --write\` on ${machine.date} at commit ${machine.commit}: ${machine.cores} cores (${machine.cpu}), ${machine.platform},
Node.js ${machine.node}, medians of ${machine.rounds} rounds.

Every figure is CPU time of the client process alone, all threads, as a ratio to a loop written by hand on the vendor's own SDK
(\`openai\`), measured in the same run; the first column says what 1 is. The model is a local server in a process of its own
that plays prepared answers of the chat completions API. Each contender of each workload runs in a process of its own, warmed up first;
the contenders take turns. Every answer, every streamed piece, the number of turns, the calls and arguments of tools and
the number of messages the server was sent are checked, so that nothing is fast by dropping work. Loopwright keeps its
durable log, its events and its deadlines in all of them; sessions are in memory except where a store is named.

${printTable(rows)}

- "One event per socket write": the server writes as fast as its socket takes it, so a read may find more than one.
- The tool loop streams six pieces of text and one tool call a turn. Its growth is the cost of a turn in a loop
  of 1,000 over that in a loop of 10, divided by the same of fetch and SSE by hand: every turn sends the whole conversation.
- "On n messages" is one question and its answer on an open session with \`store-sqlite\`, against the SDK without any store.
- Start and import are whole processes from their birth, without a compile cache.
${
  profiles.length === 0
    ? ""
    : `
## Where the time goes

Self time of the main thread in the measured part, idle time left out, for every workload that misses its goal or was asked for.

${profiles.map(profileText).join("\n")}`
}${triedText(rows)}`;
}
