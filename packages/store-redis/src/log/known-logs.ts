import { refKey, type SessionRef } from "@loopwright/core/ports";

/** What this process knows of a session's log, and must find again. */
export interface Known {
  /** A fact that was there, and the chain up to it. */
  readonly seq: number;
  readonly chain: number;
  /** The newest claim that was made from here. */
  readonly epoch?: number;
  readonly token?: string;
}

/** Sessions that are remembered; the one used longest ago is forgotten first. */
const sessionsMax = 10_000;
const nothing: Known = { seq: 0, chain: 0 };

/**
 * Remembers how far logs went, and under what token sessions were claimed. Redis may come back empty, or as it was some time ago; then this is
 * how it is noticed, and how the owner of before is distinguished from the present one.
 */
export class KnownLogs {
  readonly #sessions = new Map<string, Known>();

  of(ref: SessionRef): Known {
    return this.#sessions.get(refKey(ref)) ?? nothing;
  }

  /** A fact that is there. Older news than what is known change nothing. */
  saw(ref: SessionRef, seq: number, chain: number): void {
    const known = this.of(ref);
    if (seq >= known.seq && seq > 0) this.#keep(ref, { ...known, seq, chain });
  }

  claimed(ref: SessionRef, epoch: number, token: string): void {
    this.#keep(ref, { ...this.of(ref), epoch, token });
  }

  /** The token of a claim that was made from here; empty for another's. */
  tokenOf(ref: SessionRef, epoch: number): string {
    const known = this.of(ref);
    return known.epoch === epoch ? (known.token ?? "") : "";
  }

  /** The session was removed: nothing of it is expected any more. */
  forget(ref: SessionRef): void {
    this.#sessions.delete(refKey(ref));
  }

  /** The data was taken as it is: nothing of before is expected any more. */
  forgetAll(): void {
    this.#sessions.clear();
  }

  #keep(ref: SessionRef, known: Known): void {
    const key = refKey(ref);
    this.#sessions.delete(key);
    this.#sessions.set(key, known);
    if (this.#sessions.size <= sessionsMax) return;
    const [oldest] = this.#sessions.keys();
    if (oldest !== undefined) this.#sessions.delete(oldest);
  }
}
