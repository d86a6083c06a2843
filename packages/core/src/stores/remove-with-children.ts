/*
 * Owns: the erasure of a session and of everything below it: what stops it, what fences it, and its order.
 * Does not own: stopping the runs in progress (the host), the removal of one log (the store).
 * Invariants
 *  E1 nothing is removed before every log of the tree ends with `session.closed`: no hold can be set after that, and none was set before;
 *  E2 a session is closed before the sessions below it, so that it starts no more, and removed after them, so that they are found again after a crash;
 *  E3 each log is read whole once; later reads get only the facts appended since.
 */
import { AgentError, isAgentError } from "../errors.ts";
import { type FactOf, factVersion } from "../loop/fact.ts";
import type { SessionIndex } from "../ports/session-index.ts";
import type { SessionLog, SessionRef } from "../ports/session-log.ts";
import { sessionHeld } from "./session-held-error.ts";

interface Removable {
  readonly log: SessionLog;
  readonly index: SessionIndex;
}

/** The erasure of a session and of everything that its runs have started. */
export interface Erasure {
  /**
   * Resolves if neither the session nor a session below it is under a legal hold. Reads all their logs. @throws AgentError SESSION_HELD that names the held
   * session
   */
  check(): Promise<void>;
  /**
   * Closes all these sessions, then removes all, so that the next erasure completes one that was cut off. Reads the facts since `check`.
   * @throws AgentError SESSION_HELD if a session was put under a legal hold meanwhile: nothing is removed then, and the sessions above it are closed
   */
  complete(): Promise<void>;
}

/** What was read of a log. */
interface Read {
  readonly lastSeq: number;
  /** The date of the last fact, in milliseconds since the epoch. */
  readonly at: number;
  readonly hold: FactOf<"hold.changed"> | undefined;
  /** True if the log takes no more facts: it is closed or damaged. */
  readonly isSealed: boolean;
}

/** The most facts of one read. */
const pageSize = 500;
/** The most appends with a conflict before the erasure is given up. */
const conflictsMax = 100;

/**
 * Removes a session for good, and before it everything that its runs have started.
 * @throws AgentError SESSION_HELD if it, or a session below it, is under a legal hold: nothing is removed then
 */
export async function removeWithChildren(store: Removable, ref: SessionRef): Promise<void> {
  const erasure = erasureOf(store, ref);
  await erasure.check();
  await erasure.complete();
}

/** Prepares the erasure of the session; reads nothing yet. */
export function erasureOf(store: Removable, ref: SessionRef): Erasure {
  const { log } = store;
  const reads = new Map<string, Read>();
  const refOf = (session: string): SessionRef => ({ scope: ref.scope, session });
  /** The newest state of a log. @throws AgentError SESSION_HELD */
  const unheld = async (session: string): Promise<Read> => {
    const read = await readOn(log, refOf(session), reads.get(session));
    reads.set(session, read);
    if (read.hold) throw sessionHeld(session, read.hold, ref.session);
    return read;
  };
  const seal = async (session: string): Promise<void> => {
    for (let conflicts = 0; ; conflicts++) {
      const { lastSeq, at, isSealed } = await unheld(session);
      if (isSealed) return;
      // It was removed already.
      if (lastSeq === 0) return void reads.set(session, { ...unread, isSealed: true });
      const closed = { type: "session.closed", erase: true, at, v: factVersion } as const;
      const batch = { expectedSeq: lastSeq, batchId: `erased-${lastSeq}`, facts: [closed], due: 0 };
      const outcome = await log.append(refOf(session), batch);
      if (outcome.type === "conflict" && conflicts < conflictsMax) continue;
      if (outcome.type === "ok" || outcome.type === "dup" || outcome.type === "closed") {
        reads.set(session, { lastSeq, at, hold: undefined, isSealed: true });
        return;
      }
      throw notClosed(session, outcome.type);
    }
  };
  return {
    async check() {
      for (const session of [ref.session, ...(await sessionsBelow(store, ref))]) await unheld(session);
    },
    async complete() {
      await seal(ref.session);
      for (;;) {
        const below = await sessionsBelow(store, ref);
        const open = below.filter((session) => !reads.get(session)?.isSealed);
        for (const session of open.reverse()) await seal(session);
        if (open.length > 0) continue;
        for (const session of below) await log.remove(refOf(session));
        if (below.length === 0) break;
      }
      await log.remove(ref);
    },
  };
}

/** The ids of all sessions below this session, each after the sessions below it. */
export async function sessionsBelow({ index }: Pick<Removable, "index">, { scope, session }: SessionRef): Promise<readonly string[]> {
  const found: string[] = [];
  for (let last: { readonly updatedAt: number; readonly id: string } | undefined; ; ) {
    const page = await index.list(scope, { parent: session, ...(last ? { before: last } : {}) });
    for (const { id } of page) found.push(...(await sessionsBelow({ index }, { scope, session: id })), id);
    last = page.at(-1);
    if (!last) return found;
  }
}

/** `outcome`: that of the append. */
const notClosed = (session: string, outcome: string): AgentError =>
  outcome === "full"
    ? new AgentError("STORE_FULL", {
        message: `The session \`${session}\` was not erased: the store is full and could not record its end.`,
      })
    : new AgentError(outcome === "conflict" ? "STORE_CONFLICT" : "STORE_UNAVAILABLE", {
        message: `The session \`${session}\` was not erased: it is not known to be closed (${outcome}).`,
        fix: "Erase it again.",
        retryable: true,
      });

const unread: Read = { lastSeq: 0, at: 0, hold: undefined, isSealed: false };

/** Reads the facts that the log has after those of `before`. Of a damaged log only the facts before the damage are used. */
async function readOn(log: SessionLog, ref: SessionRef, before: Read = unread): Promise<Read> {
  let { lastSeq, at, hold, isSealed } = before;
  for (let limit = pageSize; !isSealed; ) {
    const facts = await log.read(ref, { from: lastSeq + 1, limit }).catch((error: unknown) => {
      if (isAgentError(error, "SESSION_CORRUPT")) return undefined;
      throw error;
    });
    if (!facts && limit > 1) {
      limit = 1;
      continue;
    }
    for (const fact of facts ?? []) {
      if (fact.type === "hold.changed") hold = fact.held ? fact : undefined;
      ({ seq: lastSeq, at } = fact);
    }
    isSealed = !facts || facts.at(-1)?.type === "session.closed";
    if (facts && facts.length < limit) break;
  }
  return { lastSeq, at, hold, isSealed };
}
