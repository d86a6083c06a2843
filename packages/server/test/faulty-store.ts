import { AgentError } from "@loopwright/core";
import type { SessionLog, SessionStore } from "@loopwright/core/ports";

/** A store that is not there now and then. */
export interface FaultyStore {
  readonly store: SessionStore;
  /** Faults so far. */
  readonly faults: number;
  /** From now on it fails. */
  spoil(): void;
  /** From now on it is there. */
  heal(): void;
}

/** That share of the calls of the log fails, once the test asks; an append that fails may have been done, or it is unknown whether it was. */
export function faultyStore(store: SessionStore, random: () => number, share: number): FaultyStore {
  let isFaulty = false;
  let faults = 0;
  const isFault = (): boolean => {
    const isOne = isFaulty && random() < share;
    if (isOne) faults += 1;
    return isOne;
  };
  const gone = (): AgentError => new AgentError("STORE_UNAVAILABLE", { message: "The store was told to be away." });
  const { log } = store;
  const faulty: SessionLog = {
    ...log,
    async append(ref, request) {
      if (isFault()) throw gone();
      const outcome = await log.append(ref, request);
      if (!isFault()) return outcome;
      if (random() < 0.5) return { type: "unknown" };
      throw gone();
    },
    async read(ref, options) {
      if (isFault()) throw gone();
      return log.read(ref, options);
    },
    async head(ref) {
      if (isFault()) throw gone();
      return log.head(ref);
    },
  };
  return {
    store: { ...store, log: faulty },
    get faults() {
      return faults;
    },
    spoil() {
      isFaulty = true;
    },
    heal() {
      isFaulty = false;
    },
  };
}
