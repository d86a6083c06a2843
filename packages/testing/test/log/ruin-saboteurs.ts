import { AgentError, type SessionRef } from "@loopwright/core";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { Make } from "../../src/kit/store-case.ts";
import type { LogUnderTest } from "../../src/log/log-under-test.ts";
import { faultyLog } from "./faulty-log.ts";

const unreadable = (): AgentError => new AgentError("STORE_UNAVAILABLE", { message: "Something in the store cannot be read." });

/** A log that may answer otherwise once a session was ruined. */
function afterRuin(spoil: (honest: LogUnderTest, isRuined: () => boolean) => Partial<LogUnderTest>): Make<LogUnderTest> {
  return async () => {
    const honest = faultyLog();
    let hasRuin = false;
    const ruin = async (ref: SessionRef): Promise<void> => {
      hasRuin = true;
      await honest.ruin(ref);
    };
    return { ...honest, ruin, ...spoil(honest, () => hasRuin) };
  };
}

/** Defects in the face of a session that cannot be read. */
export const ruinSaboteurs: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "looks for no due session as long as one session cannot be read",
    breaks: ["ruin-due"],
    make: afterRuin(({ log }, isRuined) => ({
      log: { ...log, due: (options) => (isRuined() ? Promise.reject(unreadable()) : log.due(options)) },
    })),
  },
  {
    defect: "cannot begin where one session cannot be read",
    breaks: ["ruin-due-after-reopen"],
    make: afterRuin(({ log }, isRuined) => ({ reopen: () => (isRuined() ? Promise.reject(unreadable()) : Promise.resolve(log)) })),
  },
  {
    defect: "lets no node claim a session while another one cannot be read",
    breaks: ["ruin-others"],
    make: afterRuin(({ log }, isRuined) => ({
      log: { ...log, claim: (ref, claim) => (isRuined() ? Promise.reject(unreadable()) : log.claim(ref, claim)) },
    })),
  },
  {
    defect: "takes a session that it cannot read for a store that is away",
    breaks: ["ruin-reported"],
    make: afterRuin(({ log }, isRuined) => ({
      log: {
        ...log,
        read: (ref, options) => log.read(ref, options).catch((error) => Promise.reject(isRuined() ? unreadable() : error)),
      },
    })),
  },
];
