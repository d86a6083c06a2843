import { failureOf } from "@loopwright/core";
import { type Clock, type DueSession, type IdSource, type Logger, refKey, type SessionLog, type SessionRef } from "@loopwright/core/ports";

/** Finds the sessions that need an owner and that no hint named: a hint was lost, an owner has died, or a due date has come. */
export interface Sweeper {
  /** The sessions that the first sweep found. Never rejects. */
  readonly first: Promise<readonly SessionRef[]>;
  /** Sweeps at once. @throws AgentError STORE_* */
  sweep(): Promise<readonly SessionRef[]>;
  /** Ends the sweeps. */
  stop(): void;
}

export interface SweeperParts {
  readonly log: SessionLog;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  /** The pause after a sweep that has found something, and the shortest pause after a sweep that has found nothing. */
  readonly everyMs: number;
  /** The longest pause: the pause is doubled up to it while sweeps find nothing. Equal to `everyMs`: the pause is constant. */
  readonly idleMs: number;
  readonly sessionsPerSweep: number;
  /** True if the sweeps keep the process alive. */
  readonly keepsAlive: boolean;
  /** Receives each session that was found; `again`: the previous sweep has found it, too. */
  readonly found: (ref: SessionRef, again: boolean) => void;
  /** True for a session that the sweep skips. */
  readonly isLeftAlone: (ref: SessionRef) => boolean;
}

const pageSize = 100;
/** The random part of the pause, so that workers which began together do not sweep at the same time. */
const jitter = 0.2;

/** Sweeps at once, then after each pause. */
export function createSweeper(parts: SweeperParts): Sweeper {
  const { log, clock, ids, logger, everyMs, idleMs, sessionsPerSweep, keepsAlive, isLeftAlone } = parts;
  /** Where the last sweep stopped. */
  let after: DueSession | undefined;
  /** The sessions that the last sweep has found. */
  let before: ReadonlySet<string> = new Set();
  let isStopped = false;
  let isFailing = false;
  let waitMs = everyMs;
  let cancel = (): void => {};

  async function sweep(): Promise<readonly SessionRef[]> {
    const found: SessionRef[] = [];
    do {
      const page = await log.due({ now: clock.now(), limit: pageSize, ...(after ? { after } : {}) });
      after = page.length < pageSize ? undefined : page.at(-1);
      if (isStopped) return found;
      for (const { ref } of page) {
        if (isLeftAlone(ref)) continue;
        found.push(ref);
        parts.found(ref, before.has(refKey(ref)));
      }
    } while (after && found.length < sessionsPerSweep);
    before = new Set(found.map(refKey));
    return found;
  }

  async function beat(): Promise<readonly SessionRef[]> {
    let found: readonly SessionRef[] = [];
    try {
      found = await sweep();
      isFailing = false;
      waitMs = found.length > 0 ? everyMs : Math.min(idleMs, waitMs * 2);
    } catch (error) {
      const fields = { code: failureOf(error).code };
      if (!isFailing && !isStopped) logger.log("error", "The sweep for sessions that need an owner failed.", fields);
      isFailing = true;
    }
    if (!isStopped) cancel = clock.after(waitMs * (1 - jitter * ids.random()), () => void beat(), { idle: !keepsAlive });
    return found;
  }

  return {
    first: beat(),
    sweep,
    stop() {
      isStopped = true;
      cancel();
    },
  };
}
