import { AgentError, type AgentSession } from "@loopwright/core";
import type { Principal } from "../server-options.ts";

/** The sessions that a principal has set in motion here and that do not rest yet. */
export interface OpenRuns {
  /**
   * Has an input recorded. A session that runs counts once, however many inputs it gets; results and decisions of an open run count nothing.
   * @throws AgentError RUN_LIMIT, and what `submit` throws
   */
  admit<T>(
    input: { readonly principal: Principal; readonly session: AgentSession; readonly goesOn?: boolean },
    submit: () => Promise<T>,
  ): Promise<T>;
}

interface Moving {
  /** Inputs on their way into the log. */
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

  /** Until the session rests or is lost. While an input is being appended that is unknown; the last one to be appended checks again. */
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
    async admit({ principal: { scope, user }, session, goesOn = false }, submit) {
      const key = `${scope}/${user}`;
      const sessions = principals.get(key) ?? new Map<AgentSession, Moving>();
      const known = sessions.get(session);
      if (!known && !goesOn && sessions.size >= most)
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
