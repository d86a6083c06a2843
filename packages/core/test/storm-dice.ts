import type { ManualClock } from "../src/memory/manual-clock.ts";

/** Chance in a storm of many handles: one source for all that happens, so that a seed gives the same story every time. */
export class StormDice {
  readonly random: () => number;
  /** While it holds, anything may fail. */
  isStormy = true;
  readonly #clock: ManualClock;

  constructor(random: () => number, clock: ManualClock) {
    this.random = random;
    this.#clock = clock;
  }

  isChance(share: number): boolean {
    return this.random() < share;
  }

  oneOf<T>(items: readonly T[]): T {
    return items[Math.floor(this.random() * items.length)] as T;
  }

  /** At times up to so many milliseconds of the clock, and some turns. */
  async takeTime(mostMs: number): Promise<void> {
    if (this.isChance(0.3)) await new Promise<void>((resolve) => void this.#clock.after(this.random() * mostMs, resolve));
    await this.takeTurns();
  }

  async takeTurns(): Promise<void> {
    for (let turns = Math.floor(this.random() * 6); turns > 0; turns--) await Promise.resolve();
  }
}
