import type { SessionRef } from "@loopwright/core";
import { refKey } from "@loopwright/core/ports";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { LogUnderTest } from "../../src/log/log-under-test.ts";
import { spoiledLog } from "./spoiled-log.ts";

/** Defects of what a log costs. */
export const workSaboteurs: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "looks at every session that is held for a list of due sessions",
    breaks: ["due-held-work"],
    make: spoiledLog((real) => {
      const claimed = new Map<string, SessionRef>();
      return {
        claim(ref, claim) {
          claimed.set(refKey(ref), ref);
          return real.claim(ref, claim);
        },
        async due(options) {
          for (const ref of claimed.values()) await real.head(ref).catch(() => undefined);
          return real.due(options);
        },
      };
    }),
  },
];
