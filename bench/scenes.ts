/** One thing that is measured: what the server plays, how often, and what one unit of it is. */
export interface Scene {
  /** Begins with the name of its workload. */
  readonly id: string;
  readonly title: string;
  /** What the server plays, as the path in front of `/v1`. */
  readonly path: string;
  /** Runs before the clock starts: loading, compiling, warming up. */
  readonly warmups: number;
  readonly runs: number;
  /** Conversations of one run, all at once. */
  readonly concurrency: number;
  /** What is other before the clock starts. */
  readonly warmup?: Partial<Pick<Scene, "path" | "turns" | "concurrency">>;
  /** For what takes long and is only compared with other scenes. */
  readonly roundsMax?: number;
  /** What the cost is divided by. */
  readonly unit: string;
  readonly unitsPerRun: number;
  /** Model calls that one input takes. */
  readonly turns: number;
  /** Messages that the conversation has before; it then stays open from run to run. */
  readonly history?: number;
  /** They lie in a database, for contenders with a store. */
  readonly isStored?: boolean;
  /** What is compared. Default: CPU time. */
  readonly compares?: "wall";
}

const single = { concurrency: 1, turns: 1, unitsPerRun: 1 } as const;

const deltas = (perWrite: number, title: string): Scene => ({
  ...single,
  id: `deltas-${perWrite}`,
  title: `text delta, ${title}`,
  path: `/text/5000/${perWrite}`,
  warmups: 3,
  runs: 8,
  unit: "delta",
  unitsPerRun: 5000,
});

const loop = (turns: number, warmups: number, runs: number): Scene => ({
  ...single,
  id: `loop-${turns}`,
  title: `turn of a tool loop of ${turns.toLocaleString("en")} turns`,
  path: `/loop/${turns}`,
  warmups,
  runs,
  unit: "turn",
  unitsPerRun: turns,
  turns,
});

const argumentsOf = (kilobytes: number, warmups: number, runs: number): Scene => ({
  ...single,
  id: `arguments-${kilobytes}`,
  title: `one tool call with ${kilobytes === 1024 ? "1 MB" : `${kilobytes} KB`} of arguments`,
  path: `/arguments/${kilobytes * 1024}`,
  warmups,
  runs,
  unit: "KB",
  unitsPerRun: kilobytes,
  turns: 2,
});

const history = (messages: number, warmups: number, runs: number): Scene => ({
  ...single,
  id: `history-${messages}`,
  title: `one turn on ${messages.toLocaleString("en")} messages`,
  path: "/text/20/64",
  warmups,
  runs,
  unit: "turn",
  history: messages,
  isStored: true,
});

/** Everything that is measured against the model server, in the order of the table. */
export const scenes: readonly Scene[] = [
  deltas(64, "64 events per socket write"),
  deltas(1, "one event per socket write"),
  loop(10, 150, 100),
  loop(100, 12, 8),
  loop(400, 3, 2),
  { ...loop(1000, 1, 1), roundsMax: 3 },
  argumentsOf(10, 20, 40),
  argumentsOf(100, 4, 10),
  argumentsOf(1024, 1, 3),
  {
    ...single,
    id: "concurrent",
    title: "1,000 concurrent runs of two turns",
    path: "/pair",
    warmups: 4,
    runs: 1,
    concurrency: 1000,
    warmup: { concurrency: 25 },
    unit: "run",
    unitsPerRun: 1000,
    turns: 2,
  },
  history(10, 60, 100),
  history(1000, 30, 60),
  history(10_000, 10, 40),
  {
    ...single,
    id: "parallel",
    title: "50 parallel tool calls of 20 ms",
    path: "/parallel/50",
    warmups: 80,
    runs: 40,
    unit: "run",
    turns: 2,
  },
];
