import type { SessionLog } from "@loopwright/core/ports";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { Make } from "../../src/kit/store-case.ts";
import type { LogUnderTest, Tampering } from "../../src/log/log-under-test.ts";
import { faultyLog } from "./faulty-log.ts";

/** A log that does not see one way of tampering. */
function blindTo(blind: Tampering): Make<LogUnderTest> {
  return async () => {
    const honest = faultyLog();
    return { ...honest, tamper: async (ref, seq, way) => (way === blind ? undefined : honest.tamper(ref, seq, way)) };
  };
}

const everyWay = ["tamper-append", "tamper-another", "tamper-reopen"];

/** Sees no damage in what it reads. */
const trusting = (log: SessionLog): SessionLog => ({ ...log, read: (ref, options) => log.read(ref, options).catch(() => []) });

/** Defects in detecting records that were tampered with. */
export const tamperSaboteurs: readonly Saboteur<LogUnderTest>[] = [
  { defect: "believes every seal", breaks: ["tamper-changed", ...everyWay], make: blindTo("changed") },
  { defect: "reads on behind a record that is gone", breaks: ["tamper-missing", ...everyWay], make: blindTo("missing") },
  { defect: "takes a record that was put in for one more fact", breaks: ["tamper-inserted", ...everyWay], make: blindTo("inserted") },
  {
    defect: "knows of tampering only until it is asked to write",
    breaks: ["tamper-append"],
    make: async () => {
      const honest = faultyLog();
      let isTampered = false;
      const log: SessionLog = {
        ...honest.log,
        append: async (ref, request) =>
          isTampered ? { type: "ok", lastSeq: request.expectedSeq + request.facts.length } : honest.log.append(ref, request),
      };
      const tamper = (...what: Parameters<typeof honest.tamper>): Promise<void> => {
        isTampered = true;
        return honest.tamper(...what);
      };
      return { ...honest, log, tamper, reopen: async () => log, another: async () => log };
    },
  },
  {
    defect: "sees tampering only where it has read before",
    breaks: ["tamper-another"],
    make: async () => {
      const honest = faultyLog();
      return { ...honest, another: async () => trusting(honest.log) };
    },
  },
];
