/*
 * Owns: the detection of pauses of this process (a stop signal, a frozen machine, a blocked event loop), for all holders of a lease.
 * Does not own: the consequences (lease).
 * Why an extra timer: after a pause the process does not know how long the pause was, and timers that were due meanwhile fire in any order.
 */
import type { Clock } from "../../ports/clock.ts";

/** A component that must check its assumptions after a pause. */
export interface PauseWatcher {
  /** The longest time without a sign of life that does not count as a pause, in milliseconds. */
  readonly gapMs: number;
  readonly onPause: () => void;
}

/** The view of one watcher. */
export interface WatchedPauses {
  /** True when the last sign of life is longer ago than the gap, even if `onPause` was not called yet. */
  readonly stoodStill: boolean;
  end(): void;
}

const intervalMs = 500;
/** The number of checks within the shortest gap of the watchers. */
const looksPerGap = 6;

interface Entry {
  readonly watcher: PauseWatcher;
  seenAt: number;
}

/** One instance for all sessions of a clock; its timer runs while there are watchers. */
class PauseWatch {
  readonly #clock: Clock;
  readonly #entries = new Set<Entry>();
  #cancel: (() => void) | undefined;
  #everyMs = intervalMs;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  watch(watcher: PauseWatcher): WatchedPauses {
    const clock = this.#clock;
    const entry: Entry = { watcher, seenAt: clock.monotonic() };
    this.#entries.add(entry);
    const everyMs = Math.min(intervalMs, watcher.gapMs / looksPerGap);
    if (!this.#cancel || everyMs < this.#everyMs) this.#plan(everyMs);
    return new Watched(entry, clock, () => this.#end(entry));
  }

  #end(entry: Entry): void {
    this.#entries.delete(entry);
    if (this.#entries.size > 0) return;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #plan(everyMs: number): void {
    this.#cancel?.();
    this.#everyMs = everyMs;
    this.#cancel = this.#clock.after(everyMs, () => this.#look(), { idle: true });
  }

  #look(): void {
    this.#cancel = undefined;
    const now = this.#clock.monotonic();
    let everyMs = intervalMs;
    for (const entry of [...this.#entries]) {
      const { watcher, seenAt } = entry;
      entry.seenAt = now;
      everyMs = Math.min(everyMs, watcher.gapMs / looksPerGap);
      if (now - seenAt > watcher.gapMs) watcher.onPause();
    }
    if (this.#entries.size > 0 && !this.#cancel) this.#plan(everyMs);
  }
}

class Watched implements WatchedPauses {
  readonly #entry: Entry;
  readonly #clock: Clock;
  readonly end: () => void;

  constructor(entry: Entry, clock: Clock, end: () => void) {
    this.#entry = entry;
    this.#clock = clock;
    this.end = end;
  }

  get stoodStill(): boolean {
    return this.#clock.monotonic() - this.#entry.seenAt > this.#entry.watcher.gapMs;
  }
}

const watches = new WeakMap<Clock, PauseWatch>();

/** Watches for pauses until `end` is called. */
export function watchPauses(clock: Clock, watcher: PauseWatcher): WatchedPauses {
  const known = watches.get(clock) ?? new PauseWatch(clock);
  watches.set(clock, known);
  return known.watch(watcher);
}
