import type { Fact } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import { countFirings, type FiringCounts, firedDate } from "../../check/check-schedules.ts";
import { home } from "../../world/tenants.ts";
import type { World } from "../../world/world.ts";
import type { Place } from "../crowd/crowd.ts";

/** What the schedules of some sessions have done so far. */
export interface FiringLog {
  read(): Promise<FiringCounts>;
  /** The last date that the schedule was fired for, of what was read; 0: none. */
  lastDue(session: string, name: string): number;
  close(): Promise<void>;
}

/** The logs of the sessions, of which each reading takes what is new. */
export async function openFiringLog(world: World, places: readonly Place[]): Promise<FiringLog> {
  const store: SessionStore = await world.openStore();
  const logs = new Map<string, Fact[]>(places.map(({ id }) => [id, []]));
  return {
    async read() {
      await Promise.all(
        [...logs].map(async ([session, facts]) => {
          facts.push(...(await store.log.read({ scope: home.scope, session }, { from: facts.length + 1 })));
        }),
      );
      const counts = [...logs].map(([session, facts]) => ({ session, ...countFirings(facts) }));
      const total = (of: "firings" | "doubled" | "passed" | "completed"): number => counts.reduce((sum, one) => sum + one[of], 0);
      return {
        ...{ firings: total("firings"), doubled: total("doubled"), passed: total("passed"), completed: total("completed") },
        lateMs: counts.flatMap(({ lateMs }) => lateMs),
        flaws: counts.flatMap(({ session, flaws }) => flaws.map((flaw) => `${session}: ${flaw}`)),
      };
    },
    lastDue: (session, name) => (logs.get(session) ?? []).reduce((last, fact) => Math.max(last, firedDate(fact, name) ?? 0), 0),
    close: () => store.close(),
  };
}
