/*
 * Owns: one circuit as this process knows it, and its record that all processes share.
 * Does not own: which calls it is for (create-failover).
 * Invariants
 *  C1 of all processes one holds the probe: a change of the record is refused where another process changed it since it was read;
 *  C2 no call waits for the records longer than `recordsMs`; where they cannot be had, this process decides by what it knows.
 */
import type { Clock } from "@loopwright/core/ports";
import type { CircuitOwner, CircuitRecords } from "./circuit-records.ts";
import type { FailoverLimits } from "./failover-limits.ts";
import { type OpenCircuit, read, written } from "./open-circuit.ts";
import { UnprovenCalls } from "./unproven-calls.ts";

/** What the circuits of a process share. */
export interface CircuitParts {
  readonly records: CircuitRecords;
  readonly clock: Clock;
  readonly limits: FailoverLimits;
  /** Reports that the records cannot be had. */
  readonly onTrouble: (error: unknown) => void;
}

/** The record of a circuit. */
export interface CircuitPlace {
  readonly owner: CircuitOwner;
  readonly id: string;
}

/** What a change makes of a circuit; `same`: nothing. */
export type Change = (now: OpenCircuit | undefined) => OpenCircuit | undefined | "same";

export class Circuit {
  readonly #parts: CircuitParts;
  readonly #place: CircuitPlace;
  #known: OpenCircuit | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #changes: Promise<unknown> = Promise.resolve();
  #pending = 0;
  /** The times of failures in this process with no answer in between, oldest first. */
  failures: readonly number[] = [];
  readonly unproven: UnprovenCalls;

  constructor(parts: CircuitParts, place: CircuitPlace) {
    this.#parts = parts;
    this.#place = place;
    this.unproven = new UnprovenCalls(parts.clock, parts.limits);
  }

  /** The circuit as far as this process knows; `undefined`: it is closed. */
  get known(): OpenCircuit | undefined {
    return this.#known;
  }

  /** True if another process may have changed it since it was read. */
  get isStale(): boolean {
    const { clock, limits } = this.#parts;
    return this.#pending === 0 && clock.monotonic() - this.#readAtMs >= limits.refreshMs;
  }

  /** Reads the record. Never rejects. */
  async refresh(): Promise<void> {
    const { records, onTrouble } = this.#parts;
    const { owner, id } = this.#place;
    try {
      const held = await this.#inTime(records.get(owner, "circuit", id));
      if (this.#pending === 0) this.#learn(held && read(held.value));
    } catch (error) {
      // It is asked again after `refreshMs`, so that records that are away do not slow down every call.
      this.#readAtMs = this.#parts.clock.monotonic();
      onTrouble(error);
    }
  }

  /** Changes what is known at once, and the record behind it. */
  change(make: Change): void {
    void this.changed(make);
  }

  /** The same; resolves when the record is changed, with whether `make` changed it. Never rejects. */
  async changed(make: Change): Promise<boolean> {
    const here = make(this.#known);
    if (here === "same") return false;
    this.#known = here;
    this.#pending++;
    const done = this.#changes.then(() => this.#write(make));
    this.#changes = done;
    try {
      return await done;
    } finally {
      this.#pending--;
    }
  }

  async #write(make: Change): Promise<boolean> {
    const { records, limits, onTrouble } = this.#parts;
    const { owner, id } = this.#place;
    try {
      for (let round = 0; round <= limits.conflictsMax; round++) {
        const held = await this.#inTime(records.get(owner, "circuit", id));
        const before = held && read(held.value);
        const after = make(before);
        if (after === "same") {
          this.#learn(before);
          return false;
        }
        const put = records.put(owner, "circuit", { id, value: written(after), expected: held?.revision ?? null });
        if ((await this.#inTime(put)) === undefined) continue;
        this.#learn(after);
        return true;
      }
      return false;
    } catch (error) {
      onTrouble(error);
      // Without the records each process decides by itself.
      return true;
    }
  }

  #learn(circuit: OpenCircuit | undefined): void {
    this.#known = circuit;
    this.#readAtMs = this.#parts.clock.monotonic();
  }

  #inTime<T>(work: Promise<T>): Promise<T> {
    const { clock, limits } = this.#parts;
    return new Promise<T>((resolve, reject) => {
      const cancel = clock.after(limits.recordsMs, () => reject(new Error(`No answer within ${limits.recordsMs} ms.`)), { idle: true });
      work.then(resolve, reject).finally(cancel);
    });
  }
}
