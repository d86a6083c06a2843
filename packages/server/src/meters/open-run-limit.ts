import { AgentError, type AgentSession } from "@loopwright/core";
import type { Principal } from "../server-options.ts";

/** Counts, by principal, the sessions that were started here and do not rest yet. */
export interface OpenRuns {
  /**
   * Records an input with `submit`, and counts its session. A session that runs counts once, however many inputs it gets; results and decisions for an
   * open run are not counted. @throws AgentError RUN_LIMIT, and the errors of `submit`
   */
  admit<T>(
    input: { readonly principal: Principal; readonly session: AgentSession; readonly isContinued?: boolean },
    submit: () => Promise<T>,
  ): Promise<T>;
}

interface Moving {
  /** Inputs that are being appended. */
  pending: number;
  stop?: () => void;
}

const retryAfterMs = 5_000;

export function createOpenRuns(most: number): OpenRuns {
  const principals = new Map<string, Map<AgentSession, Moving>>();

  function forget(key: string, session: AgentSession): void {
    const sessions = principals.get(key);
    sessions?.delete(session);
    if (sessions?.size === 0) principals.delete(key);
  }

  /** Counts the session until it rests or is lost. During an append its state is unknown, so it is checked again after the last append. */
  function track(key: string, session: AgentSession, moving: Moving): void {
    const done = (): void => {
      if (moving.pending > 0) return;
      forget(key, session);
      moving.stop?.();
    };
    moving.stop?.();
    moving.stop = session.follow({ events() {}, rested: done, lost: done });
    if (session.isResting) done();
  }

  return {
    async admit({ principal: { scope, user }, session, isContinued = false }, submit) {
      const key = `${scope}/${user}`;
      const sessions = principals.get(key) ?? new Map<AgentSession, Moving>();
      const known = sessions.get(session);
      if (!known && !isContinued && sessions.size >= most)
        throw new AgentError("RUN_LIMIT", { message: `${most} runs of this caller are open already.`, retryAfterMs });
      principals.set(key, sessions);
      const moving = known ?? { pending: 0 };
      moving.pending += 1;
      sessions.set(session, moving);
      try {
        return await submit();
      } finally {
        moving.pending -= 1;
        if (moving.pending === 0) track(key, session, moving);
      }
    },
  };
}
