import type { AgentSession } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";

/** How long a run may take to end before its session is closed over it: the grace of an abort, and the way to its owner. */
const runEndMs = 6_000;
/** How long other nodes may take to read how a run and its session ended, before the log is gone: docs/decisions/0020. */
const othersReadMs = 250;

/** Ends what runs in a session and closes it, so that every stream of it has its last frames before the log is removed. @throws AgentError SESSION_HELD, STORE_* */
export async function closeForGood(session: AgentSession, clock: Clock): Promise<boolean> {
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

/** Resolves when the run has ended, or has taken too long. */
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
