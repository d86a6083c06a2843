import { createHash } from "node:crypto";
import type { LoopwrightClient, SessionSummary } from "@loopwright/client";
import { type Clock, type DurableEvent, encodeCursor, isAgentError } from "@loopwright/core/protocol";
import type { Delivery, Outcome, Poster } from "./post-delivery.ts";
import { lookBackMs, pageEvents, pageSessions, patienceMs, retryMaxMs, retryMs, sweepEveryMs } from "./webhook-limits.ts";
import type { WebhookMemory } from "./webhook-memory.ts";

/** How deliveries to a target are. */
export interface WebhookStatus {
  readonly state: "working" | "failing" | "disabled";
  /** Milliseconds since the epoch. */
  readonly since?: number;
  readonly reason?: string;
}

/** What a target is, ready to be used. */
interface Target extends Pick<Delivery, "url" | "secrets"> {
  readonly name: string;
  readonly scope: string;
  readonly events: ReadonlySet<string>;
}

interface TargetParts {
  readonly target: Target;
  readonly client: LoopwrightClient;
  readonly memory: WebhookMemory;
  readonly poster: Poster;
  readonly clock: Pick<Clock, "now" | "after">;
  readonly random: () => number;
  readonly report: (message: string, cause: unknown) => void;
  readonly signal: AbortSignal;
}

/** What is kept of a target. */
interface TargetRecord {
  /** Events before it are not reported: the target was not known then. */
  readonly begun: number;
  /** The newest change of the sessions that were looked at. Older ones may still come up to `lookBackMs` behind it. */
  readonly swept: number;
  readonly failing?: { readonly since: number; readonly attempts: number; readonly reason: string } | undefined;
  readonly disabled?: { readonly since: number; readonly reason: string } | undefined;
}

/** Deliveries to one target. */
export interface TargetLoop {
  status(): WebhookStatus;
  enable(): void;
  readonly ended: Promise<void>;
}

/** Delivers to one target until the signal is aborted. */
export function targetLoop(parts: TargetParts): TargetLoop {
  const { target, memory, clock, report, signal } = parts;
  const key = `target:${target.name}`;
  const begun = clock.now();
  // The memory is this package's own: what it returns was written below.
  const record = (): TargetRecord => (memory.read(key) as TargetRecord | undefined) ?? { begun, swept: begun };
  const change = (fields: Partial<TargetRecord>): void => memory.write(key, { ...record(), ...fields });
  change({});
  const bell = wakeUpCall(clock, signal);
  const fail = ({ kind, reason }: Exclude<Outcome, { kind: "taken" }>): void => {
    const { since = clock.now(), attempts = 0 } = record().failing ?? {};
    const isOver = kind === "refused" || clock.now() - since >= patienceMs;
    change({ failing: { since, attempts: attempts + 1, reason } });
    if (attempts === 0 && !isOver)
      report(`The webhook ${target.name} does not take its deliveries: ${reason}. They are sent again.`, undefined);
    if (!isOver) return;
    change({ disabled: { since: clock.now(), reason } });
    report(
      `The webhook ${target.name} is disabled: ${reason}${attempts > 0 ? `, at each of ${attempts + 1} attempts since ${new Date(since).toISOString()}` : ""}. What it misses is delivered once it is enabled.`,
      undefined,
    );
  };
  const deliver = deliveryOf(parts, record);
  const run = async (): Promise<void> => {
    let failures = 0;
    while (!signal.aborted) {
      let waitMs = sweepEveryMs;
      try {
        const outcome = record().disabled ? { kind: "taken" as const } : await deliver(change);
        failures = 0;
        if (outcome.kind === "taken") {
          if (record().failing && !record().disabled) change({ failing: undefined });
        } else {
          fail(outcome);
          const { attempts = 1 } = record().failing ?? {};
          const backOffMs = Math.min(retryMaxMs, retryMs * 2 ** (attempts - 1)) * (0.5 + parts.random() / 2);
          waitMs = ("retryAfterMs" in outcome ? outcome.retryAfterMs : undefined) ?? backOffMs;
          await bell.rest(waitMs);
          continue;
        }
      } catch (error) {
        if (signal.aborted) return;
        if (failures === 0) report(`The news for the webhook ${target.name} could not be read. They are asked for again.`, error);
        waitMs = Math.min(sweepEveryMs, retryMs * 2 ** failures++);
        await bell.rest(waitMs);
        continue;
      }
      await bell.wait(waitMs);
    }
  };
  return {
    status() {
      const { failing, disabled } = record();
      if (disabled) return { state: "disabled", ...disabled };
      return failing ? { state: "failing", since: failing.since, reason: failing.reason } : { state: "working" };
    },
    enable() {
      change({ disabled: undefined, failing: undefined });
      bell.wake();
    },
    ended: Promise.all([run(), listen(parts, bell.ring)]).then(() => {}),
  };
}

/** Rings when the server has news. */
async function listen({ client, clock, signal }: TargetParts, ring: () => void): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const batch of client.notifications({ signal }))
        if (batch.some(({ type }) => type === "session_hint" || type === "hints_missed")) ring();
    } catch {
      // Without hints the sweeps find everything, and report what goes wrong.
    }
    await wakeUpCall(clock, signal).rest(sweepEveryMs);
  }
}

/** Delivers what there is, until something fails. */
function deliveryOf({ target, client, clock, memory, poster, signal }: TargetParts, record: () => TargetRecord) {
  const { name, scope, url, secrets, events } = target;
  const send = (session: string, event: DurableEvent): Promise<Outcome> => {
    const id = `msg_${createHash("sha256")
      .update(JSON.stringify([name, scope, session, encodeCursor(event)]))
      .digest("base64url")
      .slice(0, 32)}`;
    const body = JSON.stringify({ type: event.type, timestamp: new Date(event.at).toISOString(), data: { sessionId: session, event } });
    return poster.post({ url, secrets, id, body }, signal);
  };
  const cursorKey = (session: string): string => `cursor:${name}:${scope}:${session}`;
  const deliverSession = async (session: string): Promise<Outcome> => {
    const key = cursorKey(session);
    for (let after = String(memory.read(key) ?? ""); ; ) {
      const page = await client.sessions.events(session, { after, limit: pageEvents, signal });
      for (const event of page.events) {
        if (!events.has(event.type) || event.at < record().begun) continue;
        const outcome = await send(session, event);
        signal.throwIfAborted();
        if (outcome.kind !== "taken") return outcome;
        memory.write(key, encodeCursor(event));
      }
      after = page.cursor;
      memory.write(key, after);
      if (page.next === undefined) return { kind: "taken" };
    }
  };
  /** The last facts of recent sessions that were delivered to their ends. */
  let delivered = new Map<string, number>();
  return async (change: (fields: Partial<TargetRecord>) => void): Promise<Outcome> => {
    const { swept } = record();
    let newest = swept;
    const recent: SessionSummary[] = [];
    for (let before: string | undefined; ; ) {
      const { sessions, next } = await client.sessions.list({ limit: pageSessions, ...(before === undefined ? {} : { before }), signal });
      const fresh = sessions.filter(({ updatedAt }) => updatedAt >= swept - lookBackMs);
      recent.unshift(...fresh.toReversed());
      newest = Math.max(newest, ...fresh.map(({ updatedAt }) => updatedAt));
      if (next === undefined || fresh.length < sessions.length) break;
      before = next;
    }
    // Those that are too old to be looked at again are forgotten.
    const ids = new Set(recent.map(({ id }) => id));
    delivered = new Map([...delivered].filter(([id]) => ids.has(id)));
    for (const { id: session, lastSeq } of recent) {
      if ((delivered.get(session) ?? -1) >= lastSeq) continue;
      const outcome = await deliverSession(session).catch((error: unknown): Outcome => {
        if (!isAgentError(error, "SESSION_NOT_FOUND")) throw error;
        // It was removed, and has no news any more.
        memory.remove(cursorKey(session));
        return { kind: "taken" };
      });
      if (outcome.kind !== "taken") return outcome;
      delivered.set(session, lastSeq);
    }
    // A node whose clock is ahead does not hide what the others write.
    change({ swept: Math.max(swept, Math.min(newest, clock.now())) });
    return { kind: "taken" };
  };
}

interface WakeUpCall {
  /** There is news. */
  ring(): void;
  /** Ends whatever waits. */
  wake(): void;
  /** Until it rings, or has rung since the last wait. */
  wait(ms: number): Promise<void>;
  /** So long, whatever rings: all news are known then. */
  rest(ms: number): Promise<void>;
}

/** Waits that a bell ends. */
function wakeUpCall(clock: Pick<Clock, "after">, signal: AbortSignal): WakeUpCall {
  let isRung = false;
  let isResting = false;
  let end = (): void => {};
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      end = () => {
        cancel();
        signal.removeEventListener("abort", end);
        end = () => {};
        resolve();
      };
      const cancel = clock.after(ms, () => end());
      signal.addEventListener("abort", end, { once: true });
      if (signal.aborted) end();
    });
  return {
    ring() {
      isRung = true;
      if (!isResting) end();
    },
    wake() {
      isRung = true;
      end();
    },
    async wait(ms) {
      if (!isRung) await pause(ms);
      isRung = false;
    },
    async rest(ms) {
      isResting = true;
      await pause(ms);
      isResting = false;
      isRung = false;
    },
  };
}
