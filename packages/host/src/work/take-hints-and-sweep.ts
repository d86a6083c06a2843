import type { Clock, IdSource, Logger, RunQueue, SessionRef, SessionStore } from "@loopwright/core/ports";
import { hintOffers } from "../hints/offer-hint.ts";
import type { HostLimits } from "../options/host-limits.ts";
import type { SessionHost } from "../sessions/session-host.ts";
import { runHintedSessions } from "./run-hinted-sessions.ts";
import { createSweeper } from "./sweep-for-unhinted-sessions.ts";

/** The work of a process that runs sessions: it takes hints from the queue, and sweeps for sessions that no hint named. */
export interface Work {
  /** Sessions in progress. */
  readonly count: number;
  /** The number of sessions of a scope that were found without an owner until now, including the first sweep. @throws AgentError STORE_* */
  recover(scope: string): Promise<number>;
  /** Takes no more sessions, and releases those in progress to the host. */
  stop(): Promise<void>;
  /** Offers the sessions that this process leaves behind to other workers. */
  leave(refs: readonly SessionRef[]): Promise<void>;
}

export interface WorkParts {
  readonly host: SessionHost;
  readonly store: SessionStore;
  readonly queue: RunQueue;
  readonly limits: HostLimits;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly sweepMs: number;
  /** The longest pause between sweeps that find nothing. */
  readonly idleSweepMs: number;
  /** True if the sweeps keep the process alive. */
  readonly keepsAlive: boolean;
}

/** Takes hints and sweeps from now on. */
export function runWork(parts: WorkParts): Work {
  const { host, store, queue, limits, clock, ids, logger, sweepMs, idleSweepMs, keepsAlive } = parts;
  const hint = hintOffers(queue, logger);
  const worker = runHintedSessions({ host, store, limits, clock, logger, undone: async (ref) => void (await hint(ref)) });
  // The queue spreads the work over all workers. A session that a second sweep finds again, or that could not be offered, is taken by this worker.
  const found = async (ref: SessionRef, again: boolean): Promise<void> => {
    const isOffered = !again && (await hint(ref));
    if (!isOffered && worker.hasRoom) await worker.take(ref);
  };
  const taking = queue.work((ref) => worker.take(ref), { concurrency: limits.workerSessions });
  const sweeper = createSweeper({
    ...{ log: store.log, clock, ids, logger, keepsAlive },
    found: (ref, again) => void found(ref, again),
    everyMs: sweepMs,
    idleMs: idleSweepMs,
    sessionsPerSweep: limits.sessionsPerSweep,
    isLeftAlone: (ref) => worker.isLeftAlone(ref),
  });
  return {
    get count() {
      return worker.count;
    },
    async recover(scope) {
      const found = [...(await sweeper.first), ...(await sweeper.sweep())];
      return new Set(found.flatMap((ref) => (ref.scope === scope ? ref.session : []))).size;
    },
    async stop() {
      sweeper.stop();
      worker.stop();
      await taking.stop();
    },
    async leave(refs) {
      await Promise.all(refs.map((ref) => hint(ref)));
    },
  };
}
