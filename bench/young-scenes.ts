import type { Scene } from "./scenes.ts";

/** Beginning of the ids of all that is measured in a young process: a section of the page by itself. */
export const youngStart = "young";

/** Rounds for each one that was asked for: a young process measures little, so there are more of them. */
export const youngRoundsFactor = 3;

const single = { concurrency: 1, turns: 1, unitsPerRun: 1 } as const;

/** Thirty turns: three runs of ten. */
const threeLoops = { warmups: 3, warmup: { path: "/loop/10", turns: 10 } } as const;

const deltas = (perWrite: number, title: string): Scene => ({
  ...single,
  ...threeLoops,
  id: `${youngStart}-deltas-${perWrite}`,
  title: `text delta, ${title}`,
  path: `/text/5000/${perWrite}`,
  runs: 1,
  unit: "delta",
  unitsPerRun: 5000,
});

const loop = (turns: number): Scene => ({
  ...single,
  ...threeLoops,
  id: `${youngStart}-loop-${turns}`,
  title: `turn of a tool loop of ${turns} turns`,
  path: `/loop/${turns}`,
  runs: 1,
  unit: "turn",
  unitsPerRun: turns,
  turns,
});

const history = (messages: number): Scene => ({
  ...single,
  id: `${youngStart}-history-${messages}`,
  title: `one turn on ${messages.toLocaleString("en")} messages, no store`,
  path: "/text/20/64",
  warmups: 30,
  runs: 10,
  unit: "turn",
  history: messages,
});

/** What a process pays that has made thirty turns, most of whose code nothing has compiled yet. */
export const youngScenes: readonly Scene[] = [
  deltas(64, "64 events per socket write"),
  deltas(1, "one event per socket write"),
  loop(10),
  loop(100),
  loop(400),
  {
    ...single,
    id: `${youngStart}-concurrent`,
    title: "1,000 concurrent runs of two turns",
    path: "/pair",
    warmups: 1,
    warmup: { concurrency: 15 },
    runs: 1,
    concurrency: 1000,
    unit: "run",
    unitsPerRun: 1000,
    turns: 2,
  },
  {
    ...single,
    id: `${youngStart}-parallel`,
    title: "50 parallel tool calls of 20 ms",
    path: "/parallel/50",
    warmups: 15,
    runs: 5,
    unit: "run",
    turns: 2,
    compares: "wall",
  },
  history(10),
  history(1000),
];
