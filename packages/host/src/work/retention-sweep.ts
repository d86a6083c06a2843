import { AgentError, failureOf, isAgentError } from "@loopwright/core";
import type { Clock, IdSource, Logger, SessionIndex, SessionSummary } from "@loopwright/core/ports";
import type { RetentionRule, RetentionRules } from "../options/retention-rules.ts";
import type { SessionHost } from "../sessions/session-host.ts";

/** Erases the sessions of scopes whose rule has passed. */
export interface RetentionSweep {
  stop(): void;
}

export interface RetentionSweepParts {
  readonly rules: RetentionRules;
  readonly host: Pick<SessionHost, "removeExpired">;
  readonly index: Pick<SessionIndex, "list">;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly everyMs: number;
  /** The most summaries that one sweep reads; the next sweep continues after them. */
  readonly sessionsPerSweep: number;
  /** True if the sweeps keep the process alive. */
  readonly keepsAlive: boolean;
}

/** Where the last sweep stopped. */
interface Place {
  readonly scope: string;
  /** Absent: at the beginning of the scope. */
  readonly before?: Pick<SessionSummary, "updatedAt" | "id">;
}

const pageSize = 100;
const keepMinMs = 1_000;
/** The random part of the pause, so that processes do not sweep at the same time. */
const jitter = 0.2;

/** Sweeps after each pause. Several processes may do so, because the log of a session decides its erasure once. */
export function createRetentionSweep(parts: RetentionSweepParts): RetentionSweep {
  const { clock, ids, logger, everyMs, keepsAlive } = parts;
  let place: Place | undefined;
  let isStopped = false;
  let isFailing = false;
  let cancel = (): void => {};

  async function beat(): Promise<void> {
    try {
      place = await sweep(parts, place, () => isStopped);
      isFailing = false;
    } catch (error) {
      if (!isFailing && !isStopped) logger.log("error", "The sweep for the retention of scopes failed.", failureFields(error));
      isFailing = true;
    }
    wait();
  }

  function wait(): void {
    if (!isStopped) cancel = clock.after(everyMs * (1 - jitter * ids.random()), () => void beat(), { idle: !keepsAlive });
  }

  wait();
  return {
    stop() {
      isStopped = true;
      cancel();
    },
  };
}

/** Reads a bounded number of sessions, and returns the place where the next sweep begins. */
async function sweep(parts: RetentionSweepParts, from: Place | undefined, isStopped: () => boolean): Promise<Place | undefined> {
  const rules = [...(await parts.rules())].sort((a, b) => (a.scope < b.scope ? -1 : 1));
  for (const rule of rules) checkRule(rule);
  const first = from ? rules.findIndex(({ scope }) => scope >= from.scope) : 0;
  let left = parts.sessionsPerSweep;
  for (const rule of first < 0 ? [] : rules.slice(first)) {
    let before = from?.scope === rule.scope ? from.before : undefined;
    do {
      if (isStopped() || left <= 0) return { scope: rule.scope, ...(before ? { before } : {}) };
      const limit = Math.min(pageSize, left);
      const page = await expiredOf(parts, rule, { limit, before });
      for (const { id } of page) if (!isStopped()) await erase(parts, rule, id);
      left -= Math.max(1, page.length);
      before = page.length < limit ? undefined : page.at(-1);
    } while (before);
  }
  return undefined;
}

/** The sessions whose last fact is old enough, first the session that was changed last. */
function expiredOf(
  { index, clock }: RetentionSweepParts,
  { scope, keepMs }: RetentionRule,
  { limit, before }: { readonly limit: number; readonly before: Place["before"] },
): Promise<readonly SessionSummary[]> {
  // No id is empty, so all sessions that were changed later come before this place.
  const { updatedAt, id } = before ?? { updatedAt: clock.now() - keepMs + 1, id: "" };
  return index.list(scope, { limit, before: { updatedAt, id } });
}

async function erase({ host, logger }: RetentionSweepParts, { scope, keepMs }: RetentionRule, session: string): Promise<void> {
  try {
    await host.removeExpired({ scope, session }, { keepMs });
  } catch (error) {
    // Another process has erased the session meanwhile.
    if (isAgentError(error, "SESSION_NOT_FOUND")) return;
    logger.log("error", "A session whose retention has passed was not erased.", { scope, session, ...failureFields(error) });
  }
}

function checkRule({ scope, keepMs }: RetentionRule): void {
  if (Number.isSafeInteger(keepMs) && keepMs >= keepMinMs) return;
  throw new AgentError("CONFIG_INVALID", {
    message: `The retention of the scope \`${scope}\` is ${String(keepMs)}.`,
    fix: `Use a whole number of milliseconds from ${keepMinMs} on.`,
  });
}

const failureFields = (error: unknown): { readonly code: string; readonly error: string } => {
  const { code, message } = failureOf(error);
  return { code, error: message };
};
