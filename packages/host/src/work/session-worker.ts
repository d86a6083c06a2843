/*
 * Owns: which sessions this process runs because it was told of them: each is opened, kept until it owes nothing, and given back.
 * Does not own: how a session runs (core), how long it stays loaded after that (the host).
 * Invariants
 *  W1 a hint is handled once its session owes nothing now, belongs to somebody else, or cannot be opened: it is never more than a hint;
 *  W2 a session that was taken and has not begun when the process ends is passed to `undone`: no hint is lost with its process;
 *  W3 a session is in progress once, however many hints name it; a hint that comes meanwhile is handled before the session is released.
 */
import { AgentError, type AgentSession, failureOf, isAgentError } from "@loopwright/core";
import { type Clock, type Logger, refKey, type SessionRef, type SessionStore } from "@loopwright/core/ports";
import type { HostLimits } from "../options/host-limits.ts";
import type { HostedSession, SessionHost } from "../sessions/session-host.ts";

export interface SessionWorker {
  /** Sessions in hand. */
  readonly count: number;
  /** Another one may be taken at once. */
  readonly hasRoom: boolean;
  /** Waits for room, then runs the session until it owes nothing now. Never rejects: what cannot be opened is logged, and left alone for a while. */
  take(ref: SessionRef): Promise<void>;
  /** True while a session that could not be opened is left alone. */
  isLeftAlone(ref: SessionRef): boolean;
  /** Takes no more, and lets go of what is in hand: who it goes to is decided elsewhere. */
  stop(): void;
}

export interface WorkerParts {
  readonly host: SessionHost;
  readonly store: SessionStore;
  readonly limits: Pick<HostLimits, "workerSessions" | "reopenMs" | "reopenMaxMs">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Receives a session that was taken and is not run because this process ends. The hint is handled when the promise resolves. */
  readonly undone: (ref: SessionRef) => Promise<void>;
}

/** How often it is looked, until a session is owned here, whether somebody else does. */
const ownerLookMs = 1_000;
/** Sessions that could not be opened and are remembered, so that they are not tried again and again. */
const failuresMax = 1_000;
const storeTroubles: ReadonlySet<string> = new Set([
  ...["STORE_UNAVAILABLE", "STORE_FULL", "STORE_READ_ONLY", "STORE_ROLLED_BACK", "STORE_CONFLICT"],
]);
const storeWaitMs = 1_000;

export function createSessionWorker(parts: WorkerParts): SessionWorker {
  return new SessionRunner(parts);
}

interface Failure {
  readonly until: number;
  readonly waitMs: number;
}

class SessionRunner implements SessionWorker {
  readonly #parts: WorkerParts;
  /** True: told of again meanwhile. */
  readonly #inProgress = new Map<string, boolean>();
  readonly #failures = new Map<string, Failure>();
  readonly #stops = new Set<() => void>();
  /** Of sessions that are followed until they are owned here: looks at once whether their owner has left. */
  readonly #looks = new Map<string, () => void>();
  /** Who waits for room. */
  readonly #queue: (() => void)[] = [];
  #isStopped = false;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
  }

  get count(): number {
    return this.#inProgress.size;
  }

  get hasRoom(): boolean {
    return this.#inProgress.size < this.#parts.limits.workerSessions;
  }

  async take(ref: SessionRef): Promise<void> {
    const key = refKey(ref);
    while (!this.#inProgress.has(key) && !this.hasRoom && !this.#isStopped)
      await new Promise<void>((resolve) => void this.#queue.push(resolve));
    if (this.#inProgress.has(key)) {
      this.#inProgress.set(key, true);
      this.#looks.get(key)?.();
      // Whoever woke it had room for another one.
      this.#queue.shift()?.();
      return;
    }
    try {
      do {
        this.#inProgress.set(key, false);
        if (this.#isStopped) return await this.#parts.undone(ref);
        await this.#goOn(ref);
        this.#failures.delete(key);
      } while (this.#inProgress.get(key));
    } catch (error) {
      this.#noteFailure(ref, failureOf(error).code, error);
      if (this.#isStopped) await this.#parts.undone(ref);
    } finally {
      this.#inProgress.delete(key);
      this.#queue.shift()?.();
    }
  }

  isLeftAlone(ref: SessionRef): boolean {
    const failure = this.#failures.get(refKey(ref));
    return failure !== undefined && failure.until > this.#parts.clock.monotonic();
  }

  stop(): void {
    this.#isStopped = true;
    for (const wake of this.#queue.splice(0)) wake();
    for (const stop of [...this.#stops]) stop();
  }

  async #goOn(ref: SessionRef): Promise<void> {
    const { host, store, clock } = this.#parts;
    const { lastSeq, lease } = await store.log.head(ref);
    if (lastSeq === 0 || (lease && lease.node !== host.node)) return;
    const hosted = await host.open(ref);
    let isOurs = true;
    // It is loaded now: if it runs here, the graceful shutdown of the host hands it over.
    if (this.#isStopped) {
      hosted.release();
      return this.#parts.undone(ref);
    }
    try {
      const { session } = hosted;
      await session.ready();
      if (session.isReadOnly) throw new AgentError("SESSION_TOO_NEW", { message: "A newer version has gone on with the session." });
      const before = session.lastSeq;
      // It may be loaded since another node ran it: that this node holds no lease any more is known from its head.
      session.takeOver();
      isOurs = await this.#untilQuiet(hosted);
      // It owed nothing: whoever says so of it knows less.
      if (isOurs && session.lastSeq === before && before > 0 && owesNothing(session, clock))
        await store.log.setDue(ref, { expectedSeq: before, due: session.dueAt });
    } finally {
      hosted.release();
      if (!isOurs) host.letGo(ref);
    }
  }

  /** Resolves when the session owes nothing now, or is gone; with false when another node runs it. Rejects when its store is lost. */
  #untilQuiet({ ref, session }: HostedSession): Promise<boolean> {
    const { clock } = this.#parts;
    if (owesNothing(session, clock)) return Promise.resolve(true);
    return new Promise((resolve, reject) => {
      let cancel = (): void => {};
      const end = (settle: () => void): void => {
        leave();
        cancel();
        this.#stops.delete(stop);
        this.#looks.delete(refKey(ref));
        settle();
      };
      const stop = (): void => end(() => resolve(true));
      const rested = (): void => void (owesNothing(session, clock) && stop());
      const lost = (error: AgentError): void => end(() => (isAgentError(error, "SESSION_CLOSED") ? resolve(true) : reject(error)));
      const look = async (): Promise<void> => {
        cancel();
        if (session.isOwner || !this.#stops.has(stop)) return;
        const isElsewhere = await this.#isElsewhere(ref);
        if (!this.#stops.has(stop) || session.isOwner) return;
        if (isElsewhere) {
          end(() => resolve(false));
          return;
        }
        // A claim may have been refused just before the owner left: the session would wait for the end of that lease.
        session.takeOver();
        cancel();
        cancel = clock.after(ownerLookMs, () => void look(), { idle: true });
      };
      this.#stops.add(stop);
      this.#looks.set(refKey(ref), () => void look());
      const leave = session.follow({ events() {}, rested, lost });
      cancel = clock.after(ownerLookMs, () => void look(), { idle: true });
    });
  }

  async #isElsewhere(ref: SessionRef): Promise<boolean> {
    const { host, store } = this.#parts;
    const { lease } = await store.log.head(ref).catch(() => ({ lease: undefined }));
    return lease !== undefined && lease.node !== host.node;
  }

  #noteFailure(ref: SessionRef, code: string, error: unknown): void {
    const { limits, clock, logger } = this.#parts;
    // The server ends, or the session is gone: nothing is owed by us.
    if (isAgentError(error, "NOT_READY") || isAgentError(error, "SESSION_NOT_FOUND")) return;
    const key = refKey(ref);
    const again = Math.min((this.#failures.get(key)?.waitMs ?? limits.reopenMs / 2) * 2, limits.reopenMaxMs);
    // A store that was away is asked again soon, however often it was: what waits for it goes on as soon as it is back.
    const waitMs = storeTroubles.has(code) ? Math.min(storeWaitMs, limits.reopenMs) : again;
    this.#failures.delete(key);
    this.#failures.set(key, { until: clock.monotonic() + waitMs, waitMs });
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > failuresMax && oldest !== undefined) this.#failures.delete(oldest);
    logger.log("error", "A session that needs an owner could not be run.", { scope: ref.scope, session: ref.session, code });
  }
}

/** Nothing is owed at once: neither by what the log says nor by a date that has come. */
function owesNothing(session: AgentSession, clock: Clock): boolean {
  const { isResting, dueAt } = session;
  return isResting && (dueAt === null || dueAt > clock.now());
}
