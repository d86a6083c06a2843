/** Where facts are kept. `redis-*`: a server of its own, by how often it syncs its file. */
export type StoreKind = "memory" | "sqlite" | "files" | "redis-everysec" | "redis-always";

interface Titled {
  /** Begins with `durable-` and the name of its workload. */
  readonly id: string;
  readonly title: string;
  readonly store: StoreKind;
}

/** Appends as fast as they are answered, each writer to a session of its own. */
export interface AppendScene extends Titled {
  readonly kind: "append";
  readonly writers: number;
  readonly factBytes: number;
  readonly appends: number;
}

/** One question and its answer, again and again, on sessions that are open already. */
export interface TurnScene extends Titled {
  readonly kind: "turn";
  /** Facts of a session before its first measured turn. */
  readonly facts: number;
  readonly sessions: number;
  readonly turns: number;
}

/** Opening a session in a process that has never seen it. */
export interface OpenScene extends Titled {
  readonly kind: "open";
  readonly facts: number;
  readonly hasSnapshot: boolean;
}

export type DurableScene = AppendScene | TurnScene | OpenScene;

const storeTitles: Readonly<Record<StoreKind, string>> = {
  memory: "memory",
  sqlite: "SQLite",
  files: "files",
  "redis-everysec": "Redis, `appendfsync everysec`",
  "redis-always": "Redis, `appendfsync always`",
};

const append = (store: StoreKind, appends: number): AppendScene => ({
  kind: "append",
  id: `durable-append-${store}`,
  title: storeTitles[store],
  store,
  writers: 64,
  factBytes: 400,
  appends,
});

/** Facts of the session that all others are compared with. */
export const turnBasisFacts = 10;

/** Few turns on many short sessions, many on few long ones: no session grows much while it is measured. */
const turn = (store: StoreKind, facts: number, [sessions, turns]: readonly [number, number]): TurnScene => ({
  kind: "turn",
  id: `durable-turn-${store}-${facts}`,
  title: `turn on ${facts.toLocaleString("en")} facts, ${storeTitles[store]}`,
  store,
  facts,
  sessions,
  turns,
});

const turns = (store: StoreKind): readonly TurnScene[] => [
  turn(store, turnBasisFacts, [80, 5]),
  turn(store, 1_000, [10, 40]),
  turn(store, 10_000, [2, 200]),
  turn(store, 100_000, [1, 400]),
];

const open = (store: StoreKind): readonly OpenScene[] =>
  [true, false].map((hasSnapshot) => ({
    kind: "open",
    id: `durable-open-${store}-${hasSnapshot ? "snapshot" : "log"}`,
    title: `opening 100,000 facts, ${storeTitles[store]}, ${hasSnapshot ? "with a snapshot" : "from the log alone"}`,
    store,
    facts: 100_000,
    hasSnapshot,
  }));

/** Everything that is measured of durability, in the order of the table. */
export const durableScenes: readonly DurableScene[] = [
  append("memory", 200_000),
  append("sqlite", 40_000),
  append("files", 10_000),
  append("redis-everysec", 100_000),
  append("redis-always", 50_000),
  ...turns("memory"),
  ...turns("sqlite"),
  ...open("sqlite"),
  ...open("files"),
  ...open("redis-everysec"),
];
