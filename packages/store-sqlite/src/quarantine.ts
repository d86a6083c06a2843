import { refKey, type SessionRef } from "@loopwright/core/ports";
import { findSession, type SessionRow } from "./session-rows.ts";
import { type Statements, textOf } from "./statements.ts";
import { isOfOneSession, StoreFault } from "./store-fault.ts";

interface Seen {
  readonly ref: SessionRef;
  readonly fault: StoreFault;
}

/**
 * Damage that was seen and is not in the file yet. Once it is there, every connection refuses to write to the session, now and after a
 * restart; where the file cannot be written this one does, as long as it lives.
 */
export class Quarantine {
  readonly #seen = new Map<string, Seen>();
  #hasNew = false;

  /** True when something was seen since the last `keep`. */
  get hasNew(): boolean {
    return this.#hasNew;
  }

  /** Reads, and keeps in mind what damage it comes upon. */
  watch<T>(ref: SessionRef, read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof StoreFault && error.fault.code === "SESSION_CORRUPT") {
        this.note(ref, error);
      }
      throw error;
    }
  }

  /** Keeps damage in mind that was seen elsewhere. */
  note(ref: SessionRef, fault: StoreFault): void {
    this.#seen.set(refKey(ref), { ref, fault });
    this.#hasNew = true;
  }

  /** Throws the damage of a session that is known to be damaged. */
  check(ref: SessionRef): void {
    const seen = this.#seen.size === 0 ? undefined : this.#seen.get(refKey(ref));
    if (seen) throw seen.fault;
  }

  forget(ref: SessionRef): void {
    this.#seen.delete(refKey(ref));
  }

  forgetAll(): void {
    this.#seen.clear();
  }

  /** Writes what was seen into the rows of the sessions. What cannot be written is kept in mind. */
  keep(statements: Statements, transaction: (work: () => void) => void): void {
    this.#hasNew = false;
    if (this.#seen.size === 0) return;
    const unmarked = [...this.#seen.values()].flatMap(({ ref, fault }) => {
      const session = attempt(() => findSession(statements, ref));
      return session && !session.isRemoved && markOf(statements, session) === null ? [{ key: session.key, fault }] : [];
    });
    if (unmarked.length > 0)
      transaction(() => {
        for (const { key, fault } of unmarked)
          statements.run("UPDATE sessions SET damage = ? WHERE key = ? AND removed = 0 AND damage IS NULL", fault.message, key);
      });
    this.#seen.clear();
  }
}

/** A session whose row cannot be found keeps no mark off the others. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (isOfOneSession(error)) return undefined;
    throw error;
  }
}

/** Throws the damage that was seen in a session and recorded. */
export function checkMark(statements: Statements, session: SessionRow): void {
  const message = markOf(statements, session);
  if (message !== null) throw new StoreFault({ code: "SESSION_CORRUPT", message });
}

function markOf(statements: Statements, { key }: SessionRow): string | null {
  return textOf(statements.one("SELECT damage FROM sessions WHERE key = ?", key), "damage");
}
