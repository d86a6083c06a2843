/*
 * Owns: which sessions are loaded in this process, and for how long.
 * Does not own: what happens in a session (core), who may open one (routes).
 * Invariants
 *  H1 one handle per session and process, however many ask for it at once;
 *  H2 a handle stays while somebody uses it or something runs; after that it goes when it has been idle, or when there are too many.
 */
import { type Agent, AgentError, type AgentSession, createSession, isAgentError, readOpening, type SessionOptions } from "@loopwright/core";
import type { SessionRef } from "@loopwright/core/ports";
import type { Principal } from "../server-options.ts";
import type { ServerScene } from "../server-scene.ts";
import { createSessionFeed, type HostedFeed } from "../stream/session-feed.ts";
import type { HostedSession, NewSession, SessionHost } from "./session-host.ts";

type HostParts = Pick<ServerScene, "options" | "limits" | "channel" | "clock" | "ids" | "logger">;

interface Entry {
  readonly ref: SessionRef;
  readonly agent: string;
  readonly session: AgentSession;
  feed: HostedFeed | undefined;
  users: number;
  idleSince: number;
}

/** Sessions that `recover` looks at in one go. */
const pageSize = 200;

export function createSessionHost(parts: HostParts): SessionHost {
  const { options, limits, channel, clock, ids, logger } = parts;
  const { store } = options;
  const agents = new Map(options.agents.map((agent) => [agent.name, agent]));
  const entries = new Map<string, Entry>();
  const opening = new Map<string, Promise<Entry>>();
  /** Those that rested when their last user left, longest ago first. */
  const unused = new Set<Entry>();
  const node = ids.next();
  let cancelSweep: (() => void) | undefined;
  let isClosed = false;

  const keyOf = ({ scope, session }: SessionRef): string => `${scope}/${session}`;
  const shared = { store, channel, clock, ids, logger, node };

  function agentNamed(name: string): Agent {
    const agent = agents.get(name);
    if (agent) return agent;
    throw new AgentError("AGENT_NOT_FOUND", { message: `This server has no agent \`${name.slice(0, 64)}\`.` });
  }

  function hold(ref: SessionRef, session: AgentSession, agent: string): Entry {
    const entry: Entry = { ref, agent, session, feed: undefined, users: 0, idleSince: clock.now() };
    const on = { quiet: () => noteQuiet(entry), lost: () => void drop(entry) };
    entry.feed = createSessionFeed({ session, ref, store, limits, clock, logger }, on);
    entries.set(keyOf(ref), entry);
    return entry;
  }

  function lend(entry: Entry): HostedSession {
    let isLent = true;
    entry.users += 1;
    unused.delete(entry);
    return {
      ref: entry.ref,
      agent: entry.agent,
      session: entry.session,
      feed: entry.feed as HostedFeed,
      release() {
        if (!isLent) return;
        isLent = false;
        entry.users -= 1;
        noteQuiet(entry);
      },
    };
  }

  async function load(ref: SessionRef): Promise<Entry> {
    const opened = await readOpening(store, ref);
    if (!opened) throw notFound(ref);
    const { tools, prompt } = opened;
    const session = createSession({
      ...shared,
      agent: agentNamed(opened.agent),
      id: ref.session,
      access: { user: "server", scope: ref.scope },
      ...(tools ? { tools } : {}),
      ...(prompt === undefined ? {} : { prompt }),
    });
    await session.ready();
    const entry = hold(ref, session, opened.agent);
    entry.users += 1;
    return entry;
  }

  async function drop(entry: Entry): Promise<void> {
    if (entries.get(keyOf(entry.ref)) === entry) entries.delete(keyOf(entry.ref));
    unused.delete(entry);
    entry.feed?.close();
    await entry.session[Symbol.asyncDispose]();
  }

  const isIdle = ({ users, feed, session }: Entry): boolean => users === 0 && (feed?.watchers ?? 0) === 0 && session.isResting;

  /** Somebody left, or the session came to rest. */
  function noteQuiet(entry: Entry): void {
    entry.idleSince = clock.now();
    unused.delete(entry);
    if (entries.get(keyOf(entry.ref)) === entry && isIdle(entry)) unused.add(entry);
    shed();
    planSweep();
  }

  /** Lets go of the idlest while there are too many. */
  function shed(): void {
    for (const entry of unused) {
      if (entries.size <= limits.sessionsLoaded) return;
      unused.delete(entry);
      if (isIdle(entry)) void drop(entry);
    }
  }

  function planSweep(): void {
    if (isClosed || entries.size === 0) return;
    cancelSweep ??= clock.after(
      limits.sessionIdleMs,
      () => {
        cancelSweep = undefined;
        sweep();
        planSweep();
      },
      { idle: true },
    );
  }

  /** Lets go of those that have been idle for long. */
  function sweep(): void {
    for (const entry of entries.values()) if (clock.now() - entry.idleSince >= limits.sessionIdleMs && isIdle(entry)) void drop(entry);
  }

  function entryOf(ref: SessionRef): Promise<Entry> {
    if (isClosed) return Promise.reject(new AgentError("NOT_READY", { message: "The server is shutting down." }));
    const key = keyOf(ref);
    const known = entries.get(key);
    if (known) return Promise.resolve(known);
    return opening.get(key) ?? begin(key, load(ref));
  }

  /** What is loaded is in use until all who asked for it meanwhile have it. */
  function begin(key: string, loading: Promise<Entry>): Promise<Entry> {
    opening.set(key, loading);
    const end = (): void => void opening.delete(key);
    loading.then((entry) => {
      end();
      clock.soon(() => {
        entry.users -= 1;
        noteQuiet(entry);
      });
    }, end);
    return loading;
  }

  return {
    async open(ref) {
      // At once where it is known: it could be let go of meanwhile.
      const known = isClosed ? undefined : entries.get(keyOf(ref));
      return lend(known ?? (await entryOf(ref)));
    },
    async create(principal, wanted) {
      const agent = agentNamed(wanted.agent ?? firstAgent(options.agents));
      const session = createSession({ ...shared, ...sessionOptions(principal, wanted), agent });
      const ref = { scope: principal.scope, session: session.id };
      if (wanted.id === undefined) return lend(hold(ref, session, agent.name));
      const key = keyOf(ref);
      if (entries.has(key) || opening.has(key)) throw exists(ref);
      const making = session.ready().then(() => {
        if (session.lastSeq > 0) throw exists(ref);
        return hold(ref, session, agent.name);
      });
      const settled = making.finally(() => opening.delete(key));
      settled.catch(() => {}); // Whoever waits for it is told.
      opening.set(key, settled);
      return lend(await making);
    },
    async remove(ref) {
      const entry = await entryOf(ref);
      await entry.session.abort("deleted");
      await drop(entry);
      await store.log.remove(ref);
    },
    recover: (scope) => recoverRuns({ options, logger }, scope, entryOf),
    runOf: (ref) => entries.get(keyOf(ref))?.session.runId,
    get loaded() {
      return entries.size;
    },
    get running() {
      let count = 0;
      for (const { session } of entries.values()) if (!session.isResting) count += 1;
      return count;
    },
    async close() {
      isClosed = true;
      cancelSweep?.();
      await Promise.all([...entries.values()].map(drop));
    },
  };
}

async function recoverRuns(
  { options, logger }: Pick<HostParts, "options" | "logger">,
  scope: string,
  load: (ref: SessionRef) => Promise<unknown>,
): Promise<number> {
  const { index } = options.store;
  let count = 0;
  let before: { readonly updatedAt: number; readonly id: string } | undefined;
  for (;;) {
    const page = await index.list(scope, { limit: pageSize, ...(before ? { before } : {}) });
    for (const { id, status } of page) {
      if (status !== "running") continue;
      try {
        await load({ scope, session: id });
        count += 1;
      } catch (error) {
        const code = isAgentError(error) ? error.code : "INTERNAL";
        logger.log("error", "A session that was left running could not be opened.", { session: id, code });
      }
    }
    const last = page.at(-1);
    if (!last || page.length < pageSize) return count;
    before = { updatedAt: last.updatedAt, id: last.id };
  }
}

const exists = ({ session }: SessionRef): AgentError =>
  new AgentError("SESSION_EXISTS", { message: `The session \`${session}\` exists already.` });

const notFound = ({ session }: SessionRef): AgentError =>
  new AgentError("SESSION_NOT_FOUND", { message: `There is no session \`${session.slice(0, 64)}\`.` });

const firstAgent = ([first]: readonly Agent[]): string => first?.name ?? "";

/** What of a wish is an option of the session; absent stays absent. */
function sessionOptions(principal: Principal, wanted: NewSession): Partial<SessionOptions> {
  const { trusted: _, ...access } = principal;
  const { id, title, metadata, messages, tools, systemPrompt } = wanted;
  const chosen = { id, title, metadata, context: messages, tools, prompt: systemPrompt };
  return { access, ...Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== undefined)) };
}
