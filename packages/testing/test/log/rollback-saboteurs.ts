import type { SessionLog } from "@loopwright/core/ports";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { Make } from "../../src/kit/store-case.ts";
import type { LogUnderTest } from "../../src/log/log-under-test.ts";
import { faultyLog } from "./faulty-log.ts";

/** A log that may answer otherwise once its store went back. */
function afterwards(spoil: (honest: SessionLog, isOld: () => boolean) => Partial<LogUnderTest>): Make<LogUnderTest> {
  return async () => {
    const honest = faultyLog();
    let isOld = false;
    const rollBack = async (): Promise<() => Promise<void>> => {
      const putBack = await honest.rollBack();
      return async () => {
        isOld = true;
        await putBack();
      };
    };
    return { ...honest, rollBack, ...spoil(honest.log, () => isOld) };
  };
}

/** Claims whatever is left. */
const claiming = (log: SessionLog, isOld: () => boolean): SessionLog => ({
  ...log,
  claim: async (ref, claim) => (isOld() ? { type: "claimed", epoch: 9, lastSeq: 2 } : log.claim(ref, claim)),
});

/** Defects of stores that were put back to an older state. */
export const rollbackSaboteurs: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "takes an owner's facts behind a gap",
    breaks: ["rollback-append"],
    make: afterwards((log, isOld) => ({
      log: { ...log, append: async (ref, request) => (isOld() ? { type: "ok", lastSeq: 5 } : log.append(ref, request)) },
    })),
  },
  {
    defect: "takes an older history for the whole one",
    breaks: ["rollback-read"],
    make: afterwards((log, isOld) => ({
      log: { ...log, read: async (ref, options) => (isOld() ? [] : log.read(ref, options)) },
    })),
  },
  {
    defect: "continues where an older state of the store ends",
    breaks: ["rollback-another", "rollback-claim"],
    make: afterwards((log, isOld) => ({ log: claiming(log, isOld) })),
  },
  {
    defect: "notifies no other process that the store went back",
    breaks: ["rollback-another"],
    make: afterwards((log, isOld) => ({ another: async () => claiming(log, isOld) })),
  },
];
