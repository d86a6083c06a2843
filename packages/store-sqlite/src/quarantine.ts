import type { SessionRef } from "@loopwright/core/ports";
import { StoreFault } from "./store-fault.ts";

const keyOf = ({ scope, session }: SessionRef): string => `${scope}/${session}`;

/** Sessions whose log was seen to be damaged: nothing more is written to them, as long as this connection's process lives. */
export class Quarantine {
  readonly #faults = new Map<string, StoreFault>();

  /** Reads, and keeps in mind what damage it comes upon. */
  watch<T>(ref: SessionRef, read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof StoreFault && error.fault.code === "SESSION_CORRUPT") this.#faults.set(keyOf(ref), error);
      throw error;
    }
  }

  /** Throws the damage of a session that is known to be damaged. */
  check(ref: SessionRef): void {
    const fault = this.#faults.size === 0 ? undefined : this.#faults.get(keyOf(ref));
    if (fault) throw fault;
  }

  forget(ref: SessionRef): void {
    this.#faults.delete(keyOf(ref));
  }
}
