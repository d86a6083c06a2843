/*
 * Owns: one process of the simulation: the real host of sessions over the ports of its node, and the record of what it does.
 * Does not own: hosting itself (`@loopwright/host`), the use of its sessions (clients), the death of the process (node, storm).
 */

import { type Agent, type AgentSession, createAgent, createSession, isAgentError } from "@loopwright/core";
import { silentLogger } from "@loopwright/core/memory";
import type { EventChannel, IdSource, Logger, RunQueue, SessionLog, SessionRef, SessionStore } from "@loopwright/core/ports";
import { createHost, createRuntime, type Host, type HostedSession, type HostLimits, type HostOptions } from "@loopwright/host";
import { backgroundIn } from "./background-in.ts";
import type { HandOver, HostRecord } from "./host-record.ts";
import type { SimulatedNode } from "./simulated-node.ts";
import type { SimulatedStore } from "./simulated-store.ts";
import type { Trace } from "./trace.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** `server` records and follows, `worker` runs what others record, `all` does both. */
export type NodeRole = NonNullable<HostOptions["role"]>;

/** A session that is loaded in a process. */
export interface LoadedHere {
  readonly ref: SessionRef;
  readonly session: AgentSession;
  /** Requests and connections that use it. */
  users: number;
}

/** A session that is lent to a request or a connection, until `release`. */
export interface LentSession {
  readonly session: AgentSession;
  /** Twice is once. */
  release(): void;
}

export interface SimulatedHost {
  readonly node: SimulatedNode;
  readonly role: NodeRole;
  /** The store as this process sees it. */
  readonly store: SessionStore;
  /** Lends a session, which begins where the store has none. @throws AgentError as the host does */
  lend(session: string): Promise<LentSession>;
  /** A handle under an agent of another name, as of a program that was set up wrongly. The host does not know it. */
  strange(session: string): AgentSession;
  /** Every session that is loaded. */
  readonly loaded: ReadonlySet<LoadedHere>;
  /** Evicts one session if it has no user. */
  letGo(session: string): void;
  /** Calls the listener when the host ends, until the function it gives is called. */
  onEnd(listener: () => void): () => void;
  /** True from the beginning of its hand-over. */
  readonly isLeaving: boolean;
  /** Hands over, as after SIGTERM, and dies a while later. What runs may take `withinMs` to come to rest. */
  leave(withinMs: number): Promise<void>;
}

export interface SimulatedHostOptions {
  readonly node: SimulatedNode;
  readonly role: NodeRole;
  readonly scope: string;
  readonly agent: Agent;
  readonly store: SessionStore;
  /** What the store itself knows. */
  readonly truth: Pick<SimulatedStore, "claims"> & { readonly log: SessionLog };
  /** Absent: each process has its own. */
  readonly channel: EventChannel | undefined;
  /** Absent: workers have to look. */
  readonly queue: RunQueue | undefined;
  readonly ids: IdSource;
  readonly limits: Partial<HostLimits>;
  readonly leaseMs: number;
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly record: HostRecord;
  readonly isCalm: () => boolean;
  /** Virtual milliseconds since the last fault; from the beginning where there was none. */
  readonly calmForMs: () => number;
}

/** Name of the agent that no session began with. */
export const strangeAgent = "stranger";

/** How often a session is asked for that others begin or remove at this moment. */
const lendsMax = 5;
/** Longer than a worker takes to read the lease of a session and to load it. */
const heldMs = 100;
/** The longest that a request of a process takes, paused or asking a store that is away. */
const slowestMs = 60_000;
/** How long a process lives on after its hand-over. */
const lingersMs = 1_500;
/** How long what runs may take when a fuse terminates the process: too short for most. */
const fuseWithinMs = 0;

export function startHost(options: SimulatedHostOptions): SimulatedHost {
  const { node, role, agent, store, channel, queue, ids, limits, leaseMs } = options;
  const shared = { store, clock: node.clock, ids, leaseMs, ...(channel ? { channel } : {}) };
  const logger = tracing(options);
  const host = createHost({
    runtime: createRuntime({ ...shared, agents: [agent], logger, ...(queue ? { queue } : {}) }),
    ...{ role, limits, node: node.name, isOneOfMany: true },
  });
  return new ProcessHost(options, host, (session) =>
    createSession({
      ...shared,
      ...{ agent: createAgent({ ...agent, name: strangeAgent }), id: session, access: { user: "host", scope: options.scope } },
      ...{ node: `${node.name}-${strangeAgent}`, logger: silentLogger },
    }),
  );
}

/** The host's log for operators, as lines of the trace. */
function tracing({ node, time, trace }: SimulatedHostOptions): Logger {
  return {
    log: (level, message, fields = {}) => trace.add(time.nowMs, `${node.name} logs ${level}: ${message} ${String(fields["code"] ?? "")}`),
  };
}

class ProcessHost implements SimulatedHost {
  readonly node: SimulatedNode;
  readonly role: NodeRole;
  readonly store: SessionStore;
  readonly loaded = new Set<LoadedHere>();
  readonly strange: (session: string) => AgentSession;
  readonly #options: SimulatedHostOptions;
  readonly #host: Host;
  readonly #endListeners = new Set<() => void>();
  #isEnding = false;
  isLeaving = false;

  constructor(options: SimulatedHostOptions, host: Host, strange: (session: string) => AgentSession) {
    const { node, role, store } = options;
    this.node = node;
    this.role = role;
    this.store = store;
    this.strange = strange;
    this.#options = options;
    this.#host = host;
    node.onTerminate(() => void this.leave(fuseWithinMs));
    host.onEnd(() => {
      this.#isEnding = true;
      for (const listener of [...this.#endListeners]) listener();
    });
    host.sessions.onLoad(({ ref, session, onGone }) => {
      const entry: LoadedHere = { ref, session, users: 0 };
      this.loaded.add(entry);
      this.#note(`loads ${ref.session}`);
      void this.#noteHeld(ref);
      onGone(() => this.#gone(entry));
    });
  }

  async lend(session: string): Promise<LentSession> {
    const hosted = await this.#openOrBegin({ scope: this.#options.scope, session });
    const entry = [...this.loaded].find((one) => one.session === hosted.session);
    if (entry) entry.users += 1;
    let isLent = true;
    return {
      session: hosted.session,
      release() {
        if (!isLent) return;
        isLent = false;
        if (entry) entry.users -= 1;
        hosted.release();
      },
    };
  }

  letGo(session: string): void {
    this.#host.sessions.letGo({ scope: this.#options.scope, session });
  }

  onEnd(listener: () => void): () => void {
    if (this.#isEnding) listener();
    else this.#endListeners.add(listener);
    return () => void this.#endListeners.delete(listener);
  }

  async leave(withinMs: number): Promise<void> {
    const { time, record, isCalm } = this.#options;
    if (this.isLeaving) return;
    this.isLeaving = true;
    this.#note(`hands over within ${Math.round(withinMs)}`);
    const open = new Set([...this.loaded].flatMap(({ ref, session }) => (session.isResting ? [] : ref.session)));
    const handOver: HandOver = { node: this.node.name, beganAtMs: time.nowMs, withinMs, open, isCalm: isCalm() };
    record.handOvers.push(handOver);
    const count = await this.#host.handOver({ withinMs });
    this.#note(`has handed over ${count}`);
    handOver.endedAtMs = time.nowMs;
    handOver.askedAtEnd = this.node.asked.length;
    // What it still does is recorded.
    time.schedule(lingersMs, () => this.node.crash("handed over"));
  }

  /** A hint for a session that another process runs is handled by reading its lease: the session is not loaded, unless a child's end is reported to it. */
  async #noteHeld(ref: SessionRef): Promise<void> {
    const { truth, time, record, calmForMs } = this.#options;
    if (this.role !== "worker" || calmForMs() < slowestMs) return;
    const { lease } = await truth.log.head(ref);
    const claim = truth.claims.findLast(({ session }) => session === ref.session);
    if (!lease || lease.node === this.node.name || !claim || time.nowMs - claim.atMs < heldMs) return;
    // A worker that has run a child in the background reports its end to the parent, wherever that runs, and continues what rests above it.
    if (await this.#isAboveBackground(ref)) return;
    record.flaws.push({ session: ref.session, message: `${this.node.name} loads it, which ${lease.node} has held for long` });
  }

  async #isAboveBackground(ref: SessionRef): Promise<boolean> {
    const facts = await this.#options.truth.log.read(ref);
    if (backgroundIn(facts).size > 0) return true;
    for (const fact of facts)
      if (fact.type === "child.linked" && (await this.#isAboveBackground({ ...ref, session: fact.session }))) return true;
    return false;
  }

  async #openOrBegin(ref: SessionRef): Promise<HostedSession> {
    const { sessions } = this.#host;
    const access = { user: "host", scope: ref.scope };
    for (let tries = 1; ; tries++) {
      try {
        return await sessions.open(ref);
      } catch (error) {
        if (!isAgentError(error, "SESSION_NOT_FOUND")) throw error;
      }
      try {
        return await sessions.create(access, { id: ref.session });
      } catch (error) {
        if (!isAgentError(error, "SESSION_EXISTS") || tries >= lendsMax) throw error;
      }
    }
  }

  #gone(entry: LoadedHere): void {
    const { record } = this.#options;
    const { ref, session, users } = entry;
    this.loaded.delete(entry);
    this.#note(`lets go of ${ref.session}`);
    if (this.#isEnding) return;
    record.evictions += 1;
    const flaw = (why: string): void =>
      void record.flaws.push({ session: ref.session, message: `${this.node.name} evicted it while ${why}` });
    if (users > 0) flaw(`${users} used it`);
    if (session.isOwner && !session.isResting) flaw("it ran there");
  }

  #note(line: string): void {
    const { time, trace } = this.#options;
    trace.add(time.nowMs, `${this.node.name} ${line}`);
  }
}
