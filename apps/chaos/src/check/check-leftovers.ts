/* Whether what a world leaves behind depends on its sessions, and not on how much happened in them. */

/** A key of Redis. */
export interface StoredKey {
  readonly name: string;
  /** Milliseconds until it goes by itself; -1: never. */
  readonly expiresMs: number;
}

export interface LeftKeys {
  readonly keys: readonly StoredKey[];
  readonly sessions: readonly string[];
  /** Requests with an idempotency key that no log has a place for: each is remembered. */
  readonly keyedRequests: number;
  /** Sessions that are not named. Default 0. */
  readonly otherSessions?: number;
}

/** For each session: its log, what is known of it, and what is folded of it. */
const keysPerSession = 12;
/** Indexes, queues, scripts: as many for one session as for a thousand. */
const keysOfAll = 40;
const longestMs = 24 * 3_600_000;

/** I11: keys that stay are a few for each session, a few for all, and what requests are remembered by. */
export function checkKeys({ keys, sessions, keyedRequests, otherSessions = 0 }: LeftKeys): readonly string[] {
  const flaws: string[] = [];
  const staying = keys.filter(({ expiresMs }) => expiresMs < 0 || expiresMs > longestMs);
  const isOf = (name: string, session: string): boolean => new RegExp(`(?<![a-z0-9_-])${session}(?![a-z0-9_-])`).test(name);
  const remembered = staying.filter(({ name }) => name.includes("idempotency-"));
  const rest = staying.filter((key) => !remembered.includes(key));
  const others = new Set(rest);
  for (const session of sessions) {
    const own = rest.filter(({ name }) => isOf(name, session));
    for (const key of own) others.delete(key);
    if (own.length > keysPerSession)
      flaws.push(
        `I11: the session ${session} has ${own.length} keys: ${own
          .map(({ name }) => name)
          .slice(0, 4)
          .join(", ")}`,
      );
  }
  if (remembered.length > keyedRequests) flaws.push(`I11: ${remembered.length} requests are remembered and ${keyedRequests} were to be`);
  if (others.size > keysOfAll + keysPerSession * otherSessions)
    flaws.push(
      `I11: ${others.size} keys belong to no session: ${[...others]
        .map(({ name }) => name)
        .slice(0, 6)
        .join(", ")}`,
    );
  return flaws;
}

/** What a process holds. */
export interface Census {
  /** Timers, sockets, files and what else keeps it busy; `quiet`: when it was ready and nothing had happened. */
  readonly handles: number;
  readonly quiet: number;
  /** As `/metrics` reports them. */
  readonly streams: number;
  readonly runs: number;
  readonly loaded: number;
}

/** For each session that a node holds it may keep some timers. */
const handlesPerSession = 3;
/** Connections that are kept for the next request, on either side. */
const handlesKept = 64;

/** I11, I8: a node at rest holds no stream, no run, and about the resources that it held at first. */
export function checkCensus(node: string, { handles, quiet, streams, runs, loaded }: Census): readonly string[] {
  const most = Math.ceil(quiet * 1.1) + handlesKept + handlesPerSession * loaded;
  return [
    ...(streams > 0 ? [`I11: ${node} has ${streams} streams, and no reader`] : []),
    ...(runs > 0 ? [`I11: ${node} has ${runs} runs, and everything rests`] : []),
    ...(handles > most ? [`I11: ${node} holds ${handles} handles, at most ${most}; it began with ${quiet}`] : []),
  ];
}
