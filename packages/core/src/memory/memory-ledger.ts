import {
  type BookedReservation,
  type BookLedger,
  bookLedger,
  type ExactAmount,
  type LedgerBooks,
  type LedgerOptions,
} from "../stores/book-ledger.ts";
import type { LedgerSum } from "../stores/ledger-limits.ts";
import { systemClock } from "./system-clock.ts";

export type MemoryLedgerOptions = LedgerOptions;

/** A ledger in this process. */
export type MemoryLedger = BookLedger;

/** A ledger for the sessions of one process; it begins empty. It keeps sums only for accounts with a limit. */
export function memoryLedger(options: MemoryLedgerOptions): MemoryLedger {
  return bookLedger(new BooksInMemory(), { clock: systemClock, ...options });
}

const nothing: ExactAmount = { tokens: 0, nanos: 0 };

class BooksInMemory implements LedgerBooks {
  readonly #sums = new Map<string, ExactAmount & { readonly endsAt?: number }>();
  /** When the first window of `#sums` ends. */
  #nextEnd = Number.POSITIVE_INFINITY;
  /** In the order in which they were made. */
  readonly #reservations = new Map<string, BookedReservation & { readonly expiresAt: number }>();

  /** A step never waits, so no other step can come in between. */
  atomically<T>(step: () => T): T {
    return step();
  }

  spent(name: string): ExactAmount {
    return this.#sums.get(name) ?? nothing;
  }

  open({ name, endsAt }: LedgerSum, amount: ExactAmount): void {
    if (!this.#sums.has(name)) {
      this.#sums.set(name, { ...nothing, ...(endsAt === undefined ? {} : { endsAt }) });
      this.#nextEnd = Math.min(this.#nextEnd, endsAt ?? Number.POSITIVE_INFINITY);
    }
    this.change(name, amount);
  }

  change(name: string, { tokens, nanos }: ExactAmount): void {
    const sum = this.#sums.get(name);
    if (sum) this.#sums.set(name, { ...sum, tokens: sum.tokens + tokens, nanos: sum.nanos + nanos });
  }

  reservation(id: string): BookedReservation | undefined {
    return this.#reservations.get(id);
  }

  keep(id: string, reservation: BookedReservation, expiresAt: number): void {
    this.#reservations.set(id, { ...reservation, expiresAt });
  }

  close(id: string): void {
    const reservation = this.#reservations.get(id);
    if (reservation) this.#reservations.set(id, { ...reservation, isOpen: false });
  }

  drop(id: string): void {
    this.#reservations.delete(id);
  }

  /** Removes expired reservations, oldest first, up to the first that has not expired. Sums stay until their windows end. */
  forget(now: number): void {
    if (this.#nextEnd <= now) this.#forgetWindows(now);
    for (const [id, { expiresAt }] of this.#reservations) {
      if (expiresAt >= now) return;
      this.#reservations.delete(id);
    }
  }

  #forgetWindows(now: number): void {
    this.#nextEnd = Number.POSITIVE_INFINITY;
    for (const [name, { endsAt = Number.POSITIVE_INFINITY }] of this.#sums) {
      if (endsAt <= now) this.#sums.delete(name);
      else this.#nextEnd = Math.min(this.#nextEnd, endsAt);
    }
  }
}
