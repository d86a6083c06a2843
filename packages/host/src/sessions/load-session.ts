/*
 * Owns: how a session gets into this process: loaded from the store, or created.
 * Does not own: how long it stays (loaded sessions).
 * Invariant: one handle per session and process, however many callers ask for it at once.
 */
import {
  type Access,
  type Agent,
  AgentError,
  type AgentSession,
  type CallGuard,
  type ChildWorkers,
  createSession,
  type FindAgent,
  isAgentError,
  type Observer,
  type ResolveModel,
  readOpening,
  type SessionOptions,
} from "@loopwright/core";
import {
  type Clock,
  type EventChannel,
  type IdSource,
  type Logger,
  refKey,
  type ScheduleRules,
  type SessionRef,
  type SessionStore,
  type TokenCounter,
  type UsageLedger,
} from "@loopwright/core/ports";
import { hintingStore } from "../hints/hint-after-append.ts";
import type { OfferHint } from "../hints/offer-hint.ts";
import { agentOfSession } from "./find-agent-of-session.ts";
import { type LoadedEntry, type LoadedSessions, shuttingDown } from "./load-and-evict.ts";
import type { HostedSession, NewSession } from "./session-host.ts";

export interface LoaderParts {
  /** The first is the default. */
  readonly agents: readonly Agent[];
  /** Default: by name in `agents`. */
  readonly findAgent?: FindAgent;
  readonly store: SessionStore;
  /** Absent: the session gets the facts of other processes from its log alone. */
  readonly channel?: EventChannel;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly leaseMs?: number;
  /** Name of this process in leases. Default: a new id. */
  readonly node?: string;
  /** False: sessions are recorded and followed here, and run elsewhere. Default true. */
  readonly drives?: boolean;
  /** The logger of the handles of a scope. Default: `logger`. */
  readonly loggerOf?: (scope: string) => Logger;
  /** For a process that does not drive: offers the session to the processes that do. */
  readonly hint?: OfferHint;
  readonly observers?: readonly Observer[];
  readonly ledger?: UsageLedger;
  readonly tokenCounter?: TokenCounter;
  readonly scheduleRules?: ScheduleRules;
  /** The processes that run children. Default: children run where their parents do. */
  readonly workers?: ChildWorkers;
  readonly resolveModel?: ResolveModel;
  readonly callGuard?: CallGuard;
}

type Shared = Omit<LoaderParts, "agents" | "findAgent" | "hint" | "logger" | "loggerOf" | "node"> & { readonly node: string };

export class SessionLoader {
  readonly #findAgent: FindAgent;
  readonly #firstAgent: string;
  readonly #loaded: LoadedSessions;
  readonly #opening = new Map<string, Promise<LoadedEntry>>();
  readonly #loggerOf: (scope: string) => Logger;
  readonly #shared: Shared;

  constructor(parts: LoaderParts, loaded: LoadedSessions) {
    const { agents, findAgent = inList(agents), channel, clock, ids, leaseMs, logger, loggerOf = () => logger } = parts;
    const {
      drives = true,
      hint,
      node = ids.next(),
      observers = [],
      ledger,
      tokenCounter,
      scheduleRules,
      workers,
      resolveModel,
      callGuard,
    } = parts;
    this.#findAgent = findAgent;
    this.#firstAgent = agents[0]?.name ?? "";
    const store = hint ? hintingStore(parts.store, { hint, clock }) : parts.store;
    this.#loggerOf = loggerOf;
    this.#shared = {
      store,
      ...(channel ? { channel } : {}),
      clock,
      ids,
      drives,
      node,
      observers,
      ...(ledger ? { ledger } : {}),
      ...(tokenCounter ? { tokenCounter } : {}),
      ...(scheduleRules ? { scheduleRules } : {}),
      ...(workers ? { workers } : {}),
      ...(resolveModel ? { resolveModel } : {}),
      ...(callGuard ? { callGuard } : {}),
      ...(leaseMs === undefined ? {} : { leaseMs }),
    };
    this.#loaded = loaded;
  }

  /** Name of this process in leases. */
  get node(): string {
    return this.#shared.node;
  }

  /** Loads the session from the store. The session counts as used until all callers of this load have it. */
  load(ref: SessionRef): Promise<LoadedEntry> {
    if (this.#loaded.isClosed) return Promise.reject(shuttingDown());
    const known = this.#loaded.get(ref);
    if (known) return Promise.resolve(known);
    const key = refKey(ref);
    return this.#opening.get(key) ?? this.#begin(key, this.#read(ref));
  }

  /** Creates a session that the store does not have yet, and lends it to the caller. */
  async create(access: Access, wanted: NewSession): Promise<HostedSession> {
    const agent = await this.#agent(wanted.agent ?? this.#firstAgent, access);
    const session = createSession({
      ...this.#shared,
      ...sessionOptions(access, wanted),
      agent,
      logger: this.#loggerOf(access.scope),
    });
    const ref = { scope: access.scope, session: session.id };
    const one = { ref, session, agent: agent.name };
    if (wanted.id === undefined) return this.#loaded.lend(this.#loaded.add(one));
    const key = refKey(ref);
    if (this.#loaded.get(ref) || this.#opening.has(key)) throw exists(ref);
    const making = isThere(session).then((isTaken) => {
      if (isTaken) throw exists(ref);
      const entry = this.#loaded.add(one);
      this.#loaded.use(entry);
      return entry;
    });
    // A caller that loads this id meanwhile gets the session that exists.
    void this.#begin(
      key,
      making.catch((error) => (isAgentError(error, "SESSION_EXISTS") ? this.#read(ref) : Promise.reject(error))),
    );
    return this.#loaded.lend(await making);
  }

  async #agent(name: string, access: Access): Promise<Agent> {
    const agent = await this.#findAgent(name, access);
    if (agent) return agent;
    throw new AgentError("AGENT_NOT_FOUND", { message: `This server has no agent \`${name.slice(0, 64)}\`.` });
  }

  #begin(key: string, reading: Promise<LoadedEntry>): Promise<LoadedEntry> {
    this.#opening.set(key, reading);
    const end = (): void => void this.#opening.delete(key);
    reading.then((entry) => {
      end();
      this.#shared.clock.soon(() => this.#loaded.leave(entry));
    }, end);
    return reading;
  }

  async #read(ref: SessionRef): Promise<LoadedEntry> {
    const opened = await readOpening(this.#shared.store, ref);
    if (!opened) throw notFound(ref);
    const access = { user: "server", scope: ref.scope };
    const session = createSession({
      ...this.#shared,
      logger: this.#loggerOf(ref.scope),
      agent: await agentOfSession({ store: this.#shared.store, findAgent: this.#findAgent, access }, opened),
      id: ref.session,
      access,
    });
    await session.ready();
    const entry = this.#loaded.add({ ref, session, agent: opened.agent });
    this.#loaded.use(entry);
    return entry;
  }
}

function inList(agents: readonly Agent[]): FindAgent {
  const byName = new Map(agents.map((agent) => [agent.name, agent]));
  return (name) => byName.get(name);
}

/** True if the store has the session, whatever the session began with. */
const isThere = (session: AgentSession): Promise<boolean> =>
  session.ready().then(
    ({ lastSeq }) => lastSeq > 0,
    (error) => isAgentError(error, "SESSION_AGENT_MISMATCH") || Promise.reject(error),
  );

const exists = ({ session }: SessionRef): AgentError =>
  new AgentError("SESSION_EXISTS", { message: `The session \`${session}\` exists already.` });

const notFound = ({ session }: SessionRef): AgentError =>
  new AgentError("SESSION_NOT_FOUND", { message: `There is no session \`${session.slice(0, 64)}\`.` });

/** The given options of the session, without members that are `undefined`. */
function sessionOptions(access: Access, wanted: NewSession): Partial<SessionOptions> {
  const { id, title, metadata, messages, tools, systemPrompt } = wanted;
  const chosen = { id, title, metadata, context: messages, tools, prompt: systemPrompt };
  return { access, ...Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== undefined)) };
}
