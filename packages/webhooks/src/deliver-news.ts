/*
 * Owns: one pass over the sessions of a target: which have news, how far each was delivered, and which are held.
 * Does not own: when a pass is made and when a target is disabled (`target-loop.ts`), one attempt (`post-delivery.ts`).
 */
import { createHash } from "node:crypto";
import type { LoopwrightClient, SessionSummary } from "@loopwright/client";
import { type Clock, type DurableEvent, encodeCursor, isAgentError } from "@loopwright/core/protocol";
import type { Delivery, Outcome, Poster } from "./post-delivery.ts";
import { lookBackMs, pageEvents, pageSessions, rejectionsMax, retryMaxMs, retryMs } from "./webhook-limits.ts";
import type { WebhookMemory } from "./webhook-memory.ts";

/** What a target is, ready to be used. */
interface Target extends Pick<Delivery, "url" | "secrets"> {
  readonly name: string;
  readonly scope: string;
  readonly events: ReadonlySet<string>;
}

export interface NewsParts {
  readonly target: Target;
  readonly client: LoopwrightClient;
  readonly memory: WebhookMemory;
  readonly poster: Poster;
  readonly clock: Pick<Clock, "now" | "after">;
  readonly random: () => number;
  readonly report: (message: string, cause: unknown) => void;
  readonly signal: AbortSignal;
}

/** How far the news of a target were delivered. */
export interface NewsRecord {
  /** Events before it are not reported: the target was not known then. */
  readonly begun: number;
  /** The newest change of the sessions that were looked at. Older ones may still come up to `lookBackMs` behind it. */
  readonly swept: number;
}

/** A session whose next event is not delivered for now. */
export interface HeldSession {
  readonly sessionId: string;
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** What became of a pass. */
export type Pass =
  /** The target has all news. */
  | { readonly kind: "done" }
  /** Some sessions are held; the others were delivered. `isTried`: the target has rejected an event in this pass. */
  | { readonly kind: "held"; readonly reason: string; readonly waitMs: number; readonly isTried: boolean }
  /** The target takes nothing. */
  | Extract<Outcome, { readonly kind: "failed" | "refused" }>;

/** Passes over the news of one target. */
export interface News {
  /** `hasTaken`: the target has taken an event. */
  deliver(): Promise<{ readonly pass: Pass; readonly hasTaken: boolean }>;
  held(): readonly HeldSession[];
  /** Has held sessions tried at the next pass. */
  release(): void;
}

export interface NewsStore {
  record(): NewsRecord;
  change(fields: Partial<NewsRecord>): void;
}

/** The pause after so many failures: doubled, spread, at most an hour. */
export const backOffMs = (attempts: number, random: () => number): number =>
  Math.min(retryMaxMs, retryMs * 2 ** (attempts - 1)) * (0.5 + random() / 2);

interface Held extends HeldSession {
  readonly attempts: number;
  readonly nextAt: number;
  /** How many events the target had taken when the session was held. */
  readonly takenBefore: number;
  readonly updatedAt: number;
}

export function deliveryOf(parts: NewsParts, store: NewsStore): News {
  return new TargetNews(parts, store);
}

class TargetNews implements News {
  readonly #parts: NewsParts;
  readonly #store: NewsStore;
  readonly #held = new Map<string, Held>();
  /** The last facts of recent sessions that were delivered to their ends. */
  #delivered = new Map<string, number>();
  #takenCount = 0;

  constructor(parts: NewsParts, store: NewsStore) {
    this.#parts = parts;
    this.#store = store;
  }

  held(): readonly HeldSession[] {
    return [...this.#held.values()].map(({ sessionId, reason, since }) => ({ sessionId, reason, since }));
  }

  release(): void {
    for (const [id, one] of this.#held) this.#held.set(id, { ...one, nextAt: 0 });
  }

  async deliver(): Promise<{ readonly pass: Pass; readonly hasTaken: boolean }> {
    const before = this.#takenCount;
    const pass = await this.#deliverAll();
    return { pass, hasTaken: this.#takenCount > before };
  }

  async #deliverAll(): Promise<Pass> {
    const { clock } = this.#parts;
    const { recent, newest } = await this.#recent();
    const ids = new Set(recent.map(({ id }) => id));
    // Those that are too old to be looked at again, or gone, are forgotten.
    this.#delivered = new Map([...this.#delivered].filter(([id]) => ids.has(id)));
    for (const id of this.#held.keys()) if (!ids.has(id)) this.#held.delete(id);
    let isTried = false;
    for (const session of recent) {
      if ((this.#delivered.get(session.id) ?? -1) >= session.lastSeq) continue;
      if (clock.now() < (this.#held.get(session.id)?.nextAt ?? 0)) continue;
      const outcome = await this.#deliverOrHold(session);
      if (outcome === "rejected") isTried = true;
      else if (outcome) return outcome;
    }
    const held = [...this.#held.values()];
    // A node whose clock is ahead does not hide what the others write, and a held session is looked at until it is delivered.
    const swept = Math.min(newest, clock.now(), ...held.map(({ updatedAt }) => updatedAt));
    this.#store.change({ swept: Math.max(this.#store.record().swept, swept) });
    const [first] = held.sort((one, other) => one.nextAt - other.nextAt);
    if (!first) return { kind: "done" };
    return { kind: "held", reason: first.reason, waitMs: Math.max(1, first.nextAt - clock.now()), isTried };
  }

  /** The sessions that may have news, the oldest change first. */
  async #recent(): Promise<{ readonly recent: readonly SessionSummary[]; readonly newest: number }> {
    const { client, signal } = this.#parts;
    const { swept } = this.#store.record();
    const recent: SessionSummary[] = [];
    let newest = swept;
    for (let before: string | undefined; ; ) {
      const { sessions, next } = await client.sessions.list({ limit: pageSessions, ...(before === undefined ? {} : { before }), signal });
      const fresh = sessions.filter(({ updatedAt }) => updatedAt >= swept - lookBackMs);
      recent.unshift(...fresh.toReversed());
      newest = Math.max(newest, ...fresh.map(({ updatedAt }) => updatedAt));
      if (next === undefined || fresh.length < sessions.length) return { recent, newest };
      before = next;
    }
  }

  /** `undefined` or `rejected`: the next session is delivered. */
  async #deliverOrHold(session: SessionSummary): Promise<Exclude<Pass, { kind: "done" | "held" }> | "rejected" | undefined> {
    const { memory, report, target } = this.#parts;
    const { id, lastSeq } = session;
    try {
      const outcome = await this.#deliverSession(id);
      if (outcome.kind === "rejected") {
        const isNew = !this.#held.has(id);
        this.#hold(session, outcome.reason);
        if (isNew)
          report(
            `The webhook ${target.name} does not take an event of session ${id}: ${outcome.reason}. It is sent again, and events of other sessions are delivered.`,
            undefined,
          );
        return "rejected";
      }
      if (outcome.kind !== "taken") return outcome;
    } catch (error) {
      if (!isAgentError(error) || error.retryable) throw error;
      if (error.code !== "SESSION_NOT_FOUND") {
        if (!this.#held.has(id))
          report(`The log of session ${id} could not be read for the webhook ${target.name}. It is asked for again.`, error);
        this.#hold(session, `its log could not be read (${error.code})`);
        return undefined;
      }
      // It was removed, and has no news any more.
      memory.remove(this.#cursorKey(id));
    }
    this.#held.delete(id);
    this.#delivered.set(id, lastSeq);
    return undefined;
  }

  #hold({ id, updatedAt }: SessionSummary, reason: string): void {
    const { clock, random } = this.#parts;
    const { attempts = 0, since = clock.now(), takenBefore = this.#takenCount } = this.#held.get(id) ?? {};
    const nextAt = clock.now() + backOffMs(attempts + 1, random);
    this.#held.set(id, { sessionId: id, reason, since, attempts: attempts + 1, nextAt, takenBefore, updatedAt });
  }

  async #deliverSession(session: string): Promise<Outcome> {
    const { client, memory, signal, target } = this.#parts;
    const key = this.#cursorKey(session);
    for (let after = String(memory.read(key) ?? ""); ; ) {
      const page = await client.sessions.events(session, { after, limit: pageEvents, signal });
      for (const event of page.events) {
        if (!target.events.has(event.type) || event.at < this.#store.record().begun) continue;
        const outcome = await this.#send(session, event);
        signal.throwIfAborted();
        if (outcome.kind === "taken") this.#takenCount++;
        else if (outcome.kind !== "rejected" || !this.#isGivenUp(session, event, outcome.reason)) return outcome;
        memory.write(key, encodeCursor(event));
      }
      after = page.cursor;
      memory.write(key, after);
      if (page.next === undefined) return { kind: "taken" };
    }
  }

  /** True for an event that the target has rejected again and again, while it took others: it is left out, with a report. */
  #isGivenUp(session: string, event: DurableEvent, reason: string): boolean {
    const held = this.#held.get(session);
    if (!held || held.attempts + 1 < rejectionsMax || this.#takenCount === held.takenBefore) return false;
    this.#held.delete(session);
    this.#parts.report(
      `The webhook ${this.#parts.target.name} has rejected the event ${encodeCursor(event)} of session ${session} ${held.attempts + 1} times (${reason}), and has taken others: it is left out.`,
      undefined,
    );
    return true;
  }

  #cursorKey(session: string): string {
    const { name, scope } = this.#parts.target;
    return `cursor:${name}:${scope}:${session}`;
  }

  #send(session: string, event: DurableEvent): Promise<Outcome> {
    const { target, poster, signal } = this.#parts;
    const { name, scope, url, secrets } = target;
    const digest = createHash("sha256").update(JSON.stringify([name, scope, session, encodeCursor(event)]));
    const id = `msg_${digest.digest("base64url").slice(0, 32)}`;
    const body = JSON.stringify({ type: event.type, timestamp: new Date(event.at).toISOString(), data: { sessionId: session, event } });
    return poster.post({ url, secrets, id, body }, signal);
  }
}
