import type { AgentSession } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";

/** The longest wait for the end of an aborted run before its session is closed anyway: the grace period and the time to reach its owner. */
const runEndMs = 6_000;
/** How long other nodes have to read the end of the run and of the session before the log is removed: docs/decisions/0020. */
const othersReadMs = 250;

/**
 * Aborts the open run of a session and closes it, so that every stream of the session sends its last frames before the log is removed.
 * @throws AgentError SESSION_HELD, STORE_*
 */
export async function closeAndErase(session: AgentSession, clock: Clock): Promise<boolean> {
  const { runId } = session;
  const ended = runId === undefined ? undefined : runEnd(session, { runId, clock });
  try {
    await session.abort("deleted", { erases: true });
    await ended?.over;
    await session.end({ erase: "always" });
  } finally {
    ended?.stop();
  }
  if (runId !== undefined) await new Promise<void>((resolve) => void clock.after(othersReadMs, resolve));
  return true;
}

/** Resolves when the run has ended, or after the longest wait. */
function runEnd(session: AgentSession, { runId, clock }: { readonly runId: string; readonly clock: Clock }) {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(runEndMs, resolve);
  const leave = session.follow({
    events(events) {
      if (events.some((event) => event.type === "run_end" && event.runId === runId)) resolve();
    },
    lost: () => resolve(),
  });
  const stop = (): void => {
    cancel();
    leave();
  };
  return { over, stop };
}

/** Closes a session for its removal if its retention, or `keepMs` (the retention of its scope), has passed; false if it is kept. @throws AgentError STORE_* */
export async function closeExpired(session: AgentSession, keepMs: number | undefined): Promise<boolean> {
  if (keepMs === undefined) return session.end({ erase: "expired" });
  await session.ready();
  // An open run is not cut off, even if it has written nothing for that long. An erasure that another process has begun is left to that process, and to the
  // sweep for due dates if it dies.
  if (!session.isResting || session.erasableAt === 0) return false;
  return session.end({ erase: "expired", keepMs });
}

/** True if the retention of the session has passed, or its deletion was begun. The removal checks the log again, which may have got facts or a hold since. */
export const retentionHasPassed = ({ erasableAt }: Pick<AgentSession, "erasableAt">, clock: Clock): boolean =>
  erasableAt !== null && erasableAt <= clock.now();
