import { mergeSections, type Section, sectionsOf, sectionText } from "./page-sections.ts";
import { type Columns, httpColumns, pageColumns, printTable, processColumns } from "./print-table.ts";
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
  /** Processes that ran or waited for a processor on average, in the minute before the measurement ended. */
  readonly load: number;
}

/** A profile and what it is of. */
export interface Profiled {
  readonly title: string;
  readonly profile: ProfileSummary;
}

/** What one section of the page is made of. */
export interface Measured {
  readonly machine: Machine;
  readonly rows: readonly Row[];
  readonly profiles: readonly Profiled[];
  /** What every round measured, by scene; not shown. */
  readonly results: Readonly<Record<string, unknown>>;
}

const packagesShown = 8;
const functionsShown = 10;

const percent = ({ name, share }: Share): string => `${name} ${(share * 100).toFixed(0)} %`;

/** One profile as Markdown. */
export function profileText({ title, profile }: Profiled): string {
  const { packages, functions } = profile;
  return `#### ${title}

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
  return `\n### What was tried\n\n${notes.map(([start, text]) => `**${start}**: ${text}`).join("\n\n")}\n`;
}

const madeText = ({ date, commit, cores, cpu, platform, node, rounds, load }: Machine, command: string): string =>
  `Made by \`npm run bench -- ${command}\` on ${date} at commit ${commit}: ${cores} cores (${cpu}), ${platform},
Node.js ${node}, medians of ${rounds} rounds, at a load of ${load.toFixed(0)}.`;

function detailText({ rows, profiles }: Measured): string {
  if (profiles.length === 0) return triedText(rows);
  return `
### Where the time goes

Self time of the main thread in the measured part, idle time left out, for every workload that misses its goal or was asked for.

${profiles.map(profileText).join("\n")}${triedText(rows)}`;
}

const tableText = ({ rows }: Measured, columns: Columns): string => printTable(rows, columns);

/** What a process pays that talks to a model. */
export const processSection = (measured: Measured): Section => ({
  title: "In process",
  text: `${madeText(measured.machine, "--write")}

Every figure is CPU time of the client process alone, all threads, as a ratio to a loop written by hand on the vendor's own SDK
(\`openai\`), measured in the same run; the first column names the unit of 1. The model is a local server in a process of its own
that plays prepared answers of the chat completions API. Each contender of each workload runs in a process of its own, warmed up first;
the contenders take turns. Every answer, every streamed piece, the number of turns, the calls and arguments of tools and
the number of messages the server was sent are checked, so that nothing is fast by dropping work. Loopwright keeps its
durable log, its events and its deadlines in all of them; sessions are in memory except where a store is named.

${tableText(measured, processColumns)}

- "One event per socket write": the server writes as fast as its socket takes it, so a read may find more than one.
- The tool loop streams six pieces of text and one tool call a turn. Its growth is the cost of a turn in a loop
  of 1,000 over that in a loop of 10, divided by the same of fetch and SSE by hand: every turn sends the whole conversation.
- "On n messages" is one question and its answer on an open session with \`store-sqlite\`, against the SDK without any store.
${detailText(measured)}`,
});

/** What a process pays that has only just begun to talk to a model. */
export const youngSection = (measured: Measured): Section => ({
  title: "In a young process",
  text: `${madeText(measured.machine, "--only young --write")}

As above, but each process has made only thirty turns before: most of its code is still interpreted, and what is measured is as much
work and code as speed. Processes that serve a few sessions, restart with each deployment or scale to nothing are of this age.

${tableText(measured, processColumns)}

- Before the clock starts: three runs of a tool loop of ten turns, or thirty turns of the workload itself where it is one of crowds, parallel
  tools or a history. Then one run is measured; five of parallel tools, ten turns of a history.
- Parallel tools are compared by the time until the answer, not by CPU. "On n messages" is in memory for every contender, and the conversation
  is there before the clock starts.
- By hand over \`node:http\` is the least that a call costs on Node.js: no deadlines, no retries, no log, no events, no check of what comes. A goal below it asks
  for more than the platform gives.
- Start and import are whole processes from their birth, without a compile cache.
${detailText(measured)}`,
});

/** What a server pays. */
export const httpSection = (measured: Measured): Section => ({
  title: "Over HTTP",
  text: `${madeText(measured.machine, "--only http --write")}

The server, what it is compared with, the model and the load each run in a process of their own on the loopback. CPU and memory are
those of the server's process alone. The contenders take turns; "single rounds" shows how far the rounds lie apart, which is the noise
of the machine. Every client counts its events, so that nothing is fast by dropping some.

${tableText(measured, httpColumns)}

- Time to first token: a new session by \`POST /api/agent/execute\` until its first \`text_delta\` has come, beside the call of the SDK until its
  first piece of text; the two take turns within one process, one request at a time. All rounds count together.
- A delivered event is one \`text_delta\` at one client of \`GET /api/sessions/:id/events\`; one event a tick. Plain \`node:http\` writes
  prepared buffers of the same events to each response, \`for (const response of clients) response.write(bytes)\`; Hono's streaming helper runs
  on Hono's node adapter. Loopwright's figure contains the run that makes the events, its log and its checks, which is what one client
  pays alone and 200 share.
- Concurrent runs: as the row of the same name above, every run of its own connection and a new session, tools on the server. In process
  is the same without HTTP.
- Idle clients: 4,000 streams of one process on which nothing happens, after garbage collection; what 4,000 take over 0, divided.
- What the figures rest on: an event is encoded once and made an HTTP chunk once for all subscribers, past \`ServerResponse.write\`, and what is
  written in one turn of the event loop leaves in one call (a run of two turns: 15 writes, 6 calls). Bodies of known length are read
  without a stream. Readers and sinks are objects of classes: as closures an idle reader took 2 KB of heap more. Idle sessions are shed
  without looking at all that are loaded, which was 5 % of the CPU of 4,000 runs at once.
${detailText(measured)}`,
});

/** What other protocols pay. */
export const protocolsSection = (measured: Measured): Section => ({
  title: "Streams of other protocols",
  text: `${madeText(measured.machine, "--only protocols --write")}

200 streams at once, each the answer of a new session in 100 pieces, one each 25 ms; the server and the load each run in a process of their own. A figure is the CPU of
the server's process for one piece of one stream, with all that belongs to its run: session, log, model call. Our own stream is \`POST /api/agent/execute\`. The SDK of MCP writes the same
pieces as progress, in a server of its own without session, log or model. All kinds take turns in one run, each round beginning with another one, and each stream counts its pieces.

${tableText(measured, pageColumns)}
${detailText(measured)}`,
});

/** What a page pays. */
export const pageSection = (measured: Measured): Section => ({
  title: "In the browser",
  text: `${madeText(measured.machine, "--only page --write")}

The built page in headless Chromium, 1200 by 800 pixels, on a server in the measuring process; each value is of a context of its own.

${tableText(measured, pageColumns)}

- A frame of an answer: all tasks of the page's main thread (reading the stream, the fold, rendering, layout, paint, garbage
  collection), as DevTools counts them, over the frames in which the answer grew, after a second of warming up. The answer has
  paragraphs, lists and code.
- The initial load is what \`index.html\` names and itself; the run view comes when it is first opened.
${detailText(measured)}`,
});

/** What is paid for forgetting nothing. */
export const durableSection = (measured: Measured): Section => ({
  title: "Logs and stores",
  text: `${madeText(measured.machine, "--only durable --write")}

Every workload of every round runs in a process of its own, stores in new folders and a \`redis-server\` of its own on the loopback, on the
same cores. Every append is checked to be acknowledged and every session to have its messages.

${tableText(measured, pageColumns)}

- Appends: one fact each, of one writer one after the other; all share one store, as the sessions of a node do. SQLite syncs its write-ahead
  log before it answers (\`synchronous=FULL\`), files are synced one by one.
- A turn is one question and its answer by a model in the same process that reads no message: claim, appends, fold, events, the building of
  the request and the snapshots of the fold, without the one serialisation of the request. 1 is a session of 10 facts.
- Opening: a new process, until the session can be used; its store was asked for another session before. A snapshot is written by the run
  before, and the rest of the log is read after it.
- The fan-out of one session to 200 clients is in the table of what a server pays.
${detailText(measured)}`,
});

/** What finding a conversation costs. */
export const listsSection = (measured: Measured): Section => ({
  title: "Lists and searches",
  text: `${madeText(measured.machine, "--only lists --write")}

One scope with so many sessions of three facts, in a store of its own; one process asks one question after the other, over 300 pages and 300 searches. Every page is
checked to have the sessions that follow.
Where the load is above the number of cores, as other programs run on the machine, the command ran under \`chrt -r 1\` (real-time priority), so that their work is no part of it.

${tableText(measured, pageColumns)}

- Pages follow one another from the newest session on. Searches look for words that all sessions have, one in 10, one in 100 and one in 10,000.
- What a page or a search reads does not grow with the sessions (decision 0050), which the contract kit of indexes counts in rows, commands and objects. Redis, memory and files search the 2,000 sessions
  changed last.
- The first questions of a process fold what was written since the last ones, and are not measured.
${detailText(measured)}`,
});

/** Whether what operators read is what happened. */
export const latencySection = (measured: Measured): Section => ({
  title: "Latency as operators read it",
  text: `${madeText(measured.machine, "--only latency --write")}

1,000 runs of two turns and a tool, 200 of them at once, on a real clock; the model and the tool wait for random times and record them on their side. \`/dev/ai-latency\` and
\`/metrics\` are read all the while. A figure is how far a percentile of \`/dev/ai-latency\` lies from the same one of that recording.

${tableText(measured, pageColumns)}

- On a manual clock both are equal to the last millisecond, which a test holds (\`packages/telemetry/test/concurrent-runs.long.test.ts\`). The difference here is the time between a vendor's last byte
  and its processing, on a machine with other work.
${detailText(measured)}`,
});

/** What a turn costs in a long session that is compacted. */
export const contextSection = (measured: Measured): Section => ({
  title: "Long sessions under a context engine",
  text: `${madeText(measured.machine, "--only context --write")}

The engine of \`@loopwright/context\` as it is by default, and a model in the same process with a window of 3,000 tokens. A turn is a question, a call of a tool and an answer. Compared are
the means of the 200 turns from turn 2,000 on of one session and from turn 20 on of another.

${tableText(measured, pageColumns)}

- CPU is of all threads, so other work on the machine changes it little; the two sessions take turns in one process, which has first played the 2,000
  turns of the long one.
- Tokens are those of all requests of a turn, by the estimate that the engine uses without a counter. Results of the tool are small, middling or longer than the window.
- That every request is valid and within the window is tested, not measured: \`packages/context/test/long-session.test.ts\`.
${detailText(measured)}`,
});

const intro = `# Performance

What is measured, against what, and whether the goal is met. Nothing here is an estimate; a goal that is missed is marked.
`;

/** The page with new sections in the places of the old ones; what was not measured stays as it was. */
export function performancePage(before: string, made: readonly Section[]): string {
  return [intro, ...mergeSections(sectionsOf(before), made).map(sectionText)].join("\n");
}
