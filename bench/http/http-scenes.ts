import type { Pace } from "./served.ts";

interface Titled {
  /** Begins with `http-` and the name of its workload. */
  readonly id: string;
  readonly title: string;
  /** Servers that are measured, the first of them is what 1 is. */
  readonly servers: readonly string[];
}

/** One session, many readers. */
export interface FanOutScene extends Titled {
  readonly kind: "fan-out";
  readonly watchers: number;
  readonly warmup: Pace;
  readonly measured: Pace;
}

/** Streams on which nothing happens. */
export interface IdleScene extends Titled {
  readonly kind: "idle";
  readonly path: "events" | "notifications";
  readonly warmup: number;
  readonly streams: number;
}

/** One run after the other, each beside the same call of the vendor's SDK. */
export interface FirstTokenScene extends Titled {
  readonly kind: "first-token";
  readonly scenario: string;
  readonly warmups: number;
  readonly runs: number;
}

/** Many runs at once. */
export interface CrowdScene extends Titled {
  readonly kind: "crowd";
  readonly scenario: string;
  readonly overNode: boolean;
  readonly warmups: number;
  readonly warmupRuns: number;
  readonly runs: number;
}

export type HttpScene = FanOutScene | IdleScene | FirstTokenScene | CrowdScene;

const fanOut = (watchers: number, warmup: Pace, measured: Pace): FanOutScene => ({
  kind: "fan-out",
  id: `http-fan-out-${watchers}`,
  title: `delivered event, ${watchers === 1 ? "1 client" : `${watchers} clients`} of one session`,
  servers: ["node", "hono", "loopwright"],
  watchers,
  warmup,
  measured,
});

const idle = (path: IdleScene["path"], title: string): IdleScene => ({
  kind: "idle",
  id: `http-idle-${path}`,
  title,
  servers: ["node", "hono", "loopwright"],
  path,
  warmup: 300,
  streams: 4_000,
});

/** The same as the scene `concurrent`, which is what it is compared with. */
const crowd = (id: string, title: string, overNode: boolean): CrowdScene => ({
  kind: "crowd",
  id,
  title,
  servers: ["loopwright"],
  scenario: "/pair",
  overNode,
  warmups: 4,
  warmupRuns: 25,
  runs: 1_000,
});

/** Everything that is measured over HTTP, in the order of the table. */
export const httpScenes: readonly HttpScene[] = [
  {
    kind: "first-token",
    id: "http-first-token",
    title: "time to first token, model of 100 ms",
    servers: ["loopwright"],
    scenario: "/late/100",
    warmups: 40,
    runs: 120,
  },
  fanOut(1, { deltas: 2_000, gapMs: 1 }, { deltas: 3_000, gapMs: 1 }),
  fanOut(20, { deltas: 600, gapMs: 2 }, { deltas: 1_500, gapMs: 2 }),
  fanOut(200, { deltas: 200, gapMs: 8 }, { deltas: 500, gapMs: 8 }),
  crowd("http-crowd", "1,000 concurrent runs of two turns", false),
  crowd("http-crowd-node", "1,000 concurrent runs of two turns, the default transport to the model", true),
  idle("events", "idle client of a session's events"),
  idle("notifications", "idle client of notifications"),
];
