/*
 * Owns: which sessions this process runs because it was told of them: each is opened, kept until it owes nothing, and given back.
 * Does not own: how a session runs (core), how long it stays loaded after that (the host).
 * Invariants
 *  W1 a hint is handled once its session owes nothing now, belongs to somebody else, or cannot be opened: it is never more than a hint;
 *  W2 a session is in hand once, however often it is told of; what is told meanwhile is looked at before it is given back.
 */
import { AgentError, type AgentSession, failureOf, isAgentError } from "@loopwright/core";
import type { Clock, Logger, SessionRef, SessionStore } from "@loopwright/core/ports";
import type { HostLimits } from "../options/host-limits.ts";
import type { HostedSession, SessionHost } from "../sessions/session-host.ts";
import { keyOf } from "../sessions/session-key.ts";

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
  return new Hands(parts);
}

interface Failure {
  readonly until: number;
  readonly waitMs: number;
}

class Hands implements SessionWorker {
  readonly #parts: WorkerParts;
  /** True: told of again meanwhile. */
  readonly #inHand = new Map<string, boolean>();
  readonly #failures = new Map<string, Failure>();
  readonly #stops = new Set<() => void>();
  /** Who waits for room. */
  readonly #queue: (() => void)[] = [];
  #isStopped = false;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
  }

  get count(): number {
    return this.#inHand.size;
  }

  get hasRoom(): boolean {
    return this.#inHand.size < this.#parts.limits.workerSessions;
  }

  async take(ref: SessionRef): Promise<void> {
    const key = keyOf(ref);
    while (!this.#inHand.has(key) && !this.hasRoom) await new Promise<void>((resolve) => void this.#queue.push(resolve));
    if (this.#inHand.has(key)) {
      this.#inHand.set(key, true);
      // Whoever woke it had room for another one.
      this.#queue.shift()?.();
      return;
    }
    try {
      do {
        this.#inHand.set(key, false);
        if (this.#isStopped) return;
        await this.#goOn(ref);
        this.#failures.delete(key);
      } while (this.#inHand.get(key));
    } catch (error) {
      this.#noteFailure(ref, failureOf(error).code, error);
    } finally {
      this.#inHand.delete(key);
      this.#queue.shift()?.();
    }
  }

  isLeftAlone(ref: SessionRef): boolean {
    const failure = this.#failures.get(keyOf(ref));
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
    try {
      const { session } = hosted;
      await session.ready();
      if (session.isReadOnly) throw new AgentError("SESSION_TOO_NEW", { message: "A newer version has gone on with the session." });
      const before = session.lastSeq;
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
        settle();
      };
      const stop = (): void => end(() => resolve(true));
      const rested = (): void => void (owesNothing(session, clock) && stop());
      const lost = (error: AgentError): void => end(() => (isAgentError(error, "SESSION_CLOSED") ? resolve(true) : reject(error)));
      const look = async (): Promise<void> => {
        if (session.isOwner || !this.#stops.has(stop)) return;
        if (await this.#isElsewhere(ref)) end(() => resolve(false));
        else if (this.#stops.has(stop)) cancel = clock.after(ownerLookMs, () => void look(), { idle: true });
      };
      this.#stops.add(stop);
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
    const key = keyOf(ref);
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
