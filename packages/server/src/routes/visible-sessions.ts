/*
 * Owns: which sessions of a scope the reader of one stream sees, event by event, if the server has a `maySee`.
 * Does not own: the verdict (`maySee`), the frames.
 * Invariants
 *  S1 nothing of a session is sent before a verdict permits it, and events keep their order;
 *  S2 a verdict counts for five seconds; after that the next event asks again, about the principal that the last check of the stream found;
 *  S3 the number of events that wait for verdicts is bounded: beyond it the stream is cut, and its reader connects again.
 */
import type { SessionSummary } from "@loopwright/core/ports";
import { maySee } from "../permissions/may-see-session.ts";
import type { ServerContext } from "../server-context.ts";
import type { Principal } from "../server-options.ts";

const verdictMs = 5_000;
const waitingMax = 1_000;
/** The most sessions whose verdicts are kept. */
const keptMax = 1_000;

interface Verdict {
  mayPass: boolean;
  at: number;
  /** The calls that wait for the verdict. Absent: no verdict is under way. */
  waiting?: (() => void)[];
}

export interface VisibleSessions {
  /** Calls `send` if the reader may see the session: at once if the verdict is known, else when it is. */
  pass(session: string, send: () => void): void;
}

/** `cut` is called when too much waits for verdicts. */
export function visibleSessions(principalNow: () => Principal, server: ServerContext, cut: () => void): VisibleSessions {
  if (!server.options.maySee) return { pass: (_, send) => send() };
  const verdicts = new Map<string, Verdict>();
  let waiting = 0;

  const answered = (verdict: Verdict, mayPass: boolean): void => {
    const { waiting: held = [] } = verdict;
    delete verdict.waiting;
    waiting -= held.length;
    Object.assign(verdict, { mayPass, at: server.clock.now() });
    if (mayPass) for (const send of held) send();
  };
  const ask = async (session: string, verdict: Verdict): Promise<void> => {
    let summary: SessionSummary | undefined;
    const principal = principalNow();
    try {
      summary = await server.options.store.index.get(principal.scope, session);
    } catch {
      // The store is down: the reader sees what it saw before.
      return answered(verdict, verdict.mayPass);
    }
    // The removal of a session is sent to readers that saw the session.
    answered(verdict, summary ? await maySee(principal, summary, server) : verdict.mayPass);
  };
  return {
    pass(session, send) {
      const known = verdicts.get(session);
      const isFresh = known !== undefined && known.at + verdictMs > server.clock.now();
      if (known && isFresh && !known.waiting) {
        if (known.mayPass) send();
        return;
      }
      if (waiting >= waitingMax) return cut();
      waiting += 1;
      if (known?.waiting) {
        known.waiting.push(send);
        return;
      }
      const verdict: Verdict = known ?? { mayPass: false, at: 0 };
      verdict.waiting = [send];
      verdicts.delete(session);
      verdicts.set(session, verdict);
      for (const [oldest, { waiting: held }] of verdicts) if (verdicts.size > keptMax && !held) verdicts.delete(oldest);
      void ask(session, verdict);
    },
  };
}
