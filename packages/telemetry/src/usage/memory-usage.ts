import { dayOf, type UsageDimension, type UsageEntry, type UsageQuery, type UsageStore, type UsageSum } from "./usage-entry.ts";

export interface MemoryUsageOptions {
  /** Entries that are remembered at most, so that one that comes again counts once; beyond that the older half is forgotten, and none as old as that is counted. Default 100,000. */
  readonly knownMax?: number;
  /** Different sums of a day, scope, user, agent and model; beyond that, the first are forgotten. Default 100,000. */
  readonly sumsMax?: number;
}

type Keyed = Required<Pick<UsageSum, UsageDimension>>;
interface Sum extends Keyed {
  calls: number;
  input: number;
  cacheRead: number;
  cacheWrite: number;
  output: number;
  nanos: number;
  unpricedCalls: number;
}

/** Usage and cost in this process; they end with it. */
export function memoryUsage({ knownMax = 100_000, sumsMax = 100_000 }: MemoryUsageOptions = {}): UsageStore {
  /** The ids of entries, and their times. */
  const known = new Map<string, number>();
  /** All entries up to this time are forgotten. */
  let forgottenAt = Number.NEGATIVE_INFINITY;
  const sums = new Map<string, Sum>();

  const add = (entry: UsageEntry): void => {
    if (known.has(entry.id) || entry.at <= forgottenAt) return;
    known.set(entry.id, entry.at);
    addTo(sums, keyedBy(entry), { ...entry, calls: 1, nanos: entry.costNanos ?? 0, unpricedCalls: entry.costNanos === undefined ? 1 : 0 });
  };

  /** The older half: by their time, so that one entry with a wrong clock does not move the border. */
  const forget = (): void => {
    const times = [...known.values()].sort((a, b) => a - b);
    forgottenAt = times[Math.floor(times.length / 2)] ?? forgottenAt;
    for (const [id, at] of known) if (at <= forgottenAt) known.delete(id);
  };

  return {
    add(entries) {
      for (const entry of entries) add(entry);
      if (known.size > knownMax) forget();
      for (const key of sums.keys()) {
        if (sums.size <= sumsMax) break;
        sums.delete(key);
      }
    },
    async query(query = {}) {
      const found = new Map<string, Sum>();
      for (const sum of sums.values()) if (isAskedFor(sum, query)) addTo(found, chosen(sum, query.by ?? []), sum);
      return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { nanos, ...sum }]) => ({ ...sum, costUsd: nanos / 1e9 }));
    },
  };
}

function addTo(sums: Map<string, Sum>, key: Partial<Keyed>, more: Omit<Sum, keyof Keyed>): void {
  const name = JSON.stringify(Object.values(key));
  const sum = sums.get(name) ?? ({ ...key, calls: 0, input: 0, cacheRead: 0, cacheWrite: 0, output: 0, nanos: 0, unpricedCalls: 0 } as Sum);
  for (const count of ["calls", "input", "cacheRead", "cacheWrite", "output", "nanos", "unpricedCalls"] as const) sum[count] += more[count];
  sums.set(name, sum);
}

const keyedBy = ({ at, scope, user, agent, provider, model }: UsageEntry): Keyed => ({
  day: dayOf(at),
  scope,
  user,
  agent,
  provider,
  model,
});

const chosen = (sum: Keyed, by: readonly UsageDimension[]): Partial<Keyed> => Object.fromEntries(by.map((name) => [name, sum[name]]));

const isAskedFor = (sum: Keyed, { scope, user, from = "", to = "9999" }: UsageQuery): boolean =>
  (scope === undefined || sum.scope === scope) && (user === undefined || sum.user === user) && sum.day >= from && sum.day <= to;
