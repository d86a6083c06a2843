/*
 * Owns: the sessions that this process runs because of a hint: each is opened, kept until it has no work left, and given back.
 * Does not own: how a session runs (core), how long it stays loaded after that (the host).
 * Invariants
 *  W1 a hint is handled when its session has no work now, has another owner, or cannot be opened: sweeps find later work;
 *  W2 a session that was taken and has not begun when the process ends is passed to `undone`: no hint is lost with its process;
 *  W3 a session is in progress once, however many hints name it; a hint that comes meanwhile is handled before the session is released.
 */
import { AgentError, type AgentSession, failureOf, isAgentError } from "@loopwright/core";
import { type Clock, type Logger, refKey, type SessionRef, type SessionStore } from "@loopwright/core/ports";
import type { HostLimits } from "../options/host-limits.ts";
import { retentionHasPassed } from "../sessions/erase-session.ts";
import type { HostedSession, SessionHost } from "../sessions/session-host.ts";

export interface HintedSessions {
  /** Sessions in progress. */
  readonly count: number;
  /** True if a session can be taken without a wait. */
  readonly hasRoom: boolean;
  /** Waits for room, then runs the session until it has no work now. Never rejects: a session that cannot be opened is logged, and skipped for a while. */
  take(ref: SessionRef): Promise<void>;
  /** True while a session that could not be opened is skipped. */
  isLeftAlone(ref: SessionRef): boolean;
  /** Takes no more sessions, and releases those in progress. The host offers them to other processes. */
  stop(): void;
}

export interface WorkerParts {
  readonly host: SessionHost;
  readonly store: SessionStore;
  readonly limits: Pick<HostLimits, "workerSessions" | "reopenMs" | "reopenMaxMs">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Receives a session that was taken but is not run because this process ends. The hint is handled when the promise resolves. */
  readonly undone: (ref: SessionRef) => Promise<void>;
}

/** How often a followed session that is not owned here is checked for another owner. */
const ownerLookMs = 1_000;
/** How many sessions that could not be opened are remembered, so that they are not retried at every sweep. */
const failuresMax = 1_000;
const storeTroubles: ReadonlySet<string> = new Set([
  ...["STORE_UNAVAILABLE", "STORE_FULL", "STORE_READ_ONLY", "STORE_ROLLED_BACK", "STORE_CONFLICT"],
]);
const storeWaitMs = 1_000;

export function runHintedSessions(parts: WorkerParts): HintedSessions {
  return new SessionRunner(parts);
}

interface Failure {
  readonly until: number;
  readonly waitMs: number;
}

class SessionRunner implements HintedSessions {
  readonly #parts: WorkerParts;
  /** Sessions in progress; true: another hint for the session has come meanwhile. */
  readonly #inProgress = new Map<string, boolean>();
  readonly #failures = new Map<string, Failure>();
  readonly #stops = new Set<() => void>();
  /** For each session that is followed but not owned here: checks at once whether its owner has left. */
  readonly #looks = new Map<string, () => void>();
  /** Wakes the calls of `take` that wait for room, in order. */
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
      // This call uses no room: wake the next waiting call.
      this.#queue.shift()?.();
      return;
    }
    try {
      do {
        this.#inProgress.set(key, false);
        if (this.#isStopped) return await this.#parts.undone(ref);
        await this.#runOne(ref);
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

  async #runOne(ref: SessionRef): Promise<void> {
    const { host, store, clock, limits } = this.#parts;
    const { lastSeq, lease } = await store.log.head(ref);
    if (lastSeq === 0 || (lease && lease.node !== host.node)) return;
    const hosted = await host.open(ref);
    let isOurs = true;
    // The session is loaded now: if it runs here, the graceful shutdown of the host hands it over.
    if (this.#isStopped) {
      hosted.release();
      return this.#parts.undone(ref);
    }
    try {
      const { session } = hosted;
      await session.ready();
      if (session.isReadOnly)
        throw new AgentError("SESSION_TOO_NEW", { message: "A newer version of Loopwright has continued the session." });
      if (session.isResting && retentionHasPassed(session, clock)) {
        if (await host.removeExpired(ref)) return;
        // A child is under a legal hold, which this log does not show.
        if (retentionHasPassed(session, clock))
          return await store.log.setDue(ref, { expectedSeq: session.lastSeq, due: clock.now() + limits.reopenMaxMs });
      }
      const before = session.lastSeq;
      // The handle may have been loaded while another node ran the session; the head has shown that no other node holds the lease now.
      session.takeOver();
      isOurs = await this.#untilQuiet(hosted);
      if (isOurs) await this.#report(ref, session);
      // The session has no work, but the store listed it as due: correct its due date.
      if (isOurs && (session.lastSeq === before || session.reportsTo !== undefined) && before > 0 && owesNothing(session, clock))
        await store.log.setDue(ref, { expectedSeq: session.lastSeq, due: session.dueAt });
    } finally {
      hosted.release();
      if (!isOurs) host.letGo(ref);
    }
  }

  /**
   * Makes the end of a child in the background an input of its parent, and continues the calls above that rest for this parent. A parent that no longer
   * exists gets nothing.
   */
  async #report({ scope, session }: SessionRef, { reportsTo }: AgentSession): Promise<void> {
    for (let child = session, above = reportsTo; above !== undefined; ) {
      let parent: HostedSession;
      try {
        parent = await this.#parts.host.open({ scope, session: above });
      } catch (error) {
        if (isAgentError(error, "SESSION_NOT_FOUND")) return;
        throw error;
      }
      try {
        const next = await parent.session.collect(child);
        child = above;
        above = next;
      } finally {
        parent.release();
      }
    }
  }

  /** Resolves when the session has no work now or no longer exists, with false if another node runs it. Rejects if its store is lost. */
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
        // A claim may have been refused just before the owner left; without this call the session would wait until that lease has expired.
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
    // The process ends, or the session is gone: there is nothing to run.
    if (isAgentError(error, "NOT_READY") || isAgentError(error, "SESSION_NOT_FOUND")) return;
    const key = refKey(ref);
    const again = Math.min((this.#failures.get(key)?.waitMs ?? limits.reopenMs / 2) * 2, limits.reopenMaxMs);
    // After an error of the store the wait is short and is not doubled, so that sessions continue as soon as the store is back.
    const waitMs = storeTroubles.has(code) ? Math.min(storeWaitMs, limits.reopenMs) : again;
    this.#failures.delete(key);
    this.#failures.set(key, { until: clock.monotonic() + waitMs, waitMs });
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > failuresMax && oldest !== undefined) this.#failures.delete(oldest);
    logger.log("error", "A session that needs an owner could not be run.", { scope: ref.scope, session: ref.session, code });
  }
}

/** True if the session has no work now: it rests, and its due date has not come. */
function owesNothing(session: AgentSession, clock: Clock): boolean {
  const { isResting, dueAt } = session;
  return isResting && (dueAt === null || dueAt > clock.now());
}
