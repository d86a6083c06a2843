import type { LeaseRenewal, SessionLog } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreCase } from "../kit/store-case.ts";
import type { LogUnderTest } from "../log/log-under-test.ts";
import { noteBatch, sampleRef, secondRef } from "../samples/sample-facts.ts";

const leaseMs = 20_000;
/** What a node does in its lease: renewals, and how long a store may be away at the worst moment between two of them. */
const [renewEveryMs, worstMs] = [3_000, 17_000];

const renewMany = (log: SessionLog, renewals: readonly LeaseRenewal[]): Promise<readonly boolean[]> =>
  log.renewAll?.(renewals) ?? Promise.all(renewals.map(({ ref, ...lease }) => log.renew(ref, lease)));

/** Renewals as a node makes them: again and again, of many leases at once, and not at all while it does not reach the store. */
export const renewalCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "outage",
    promise:
      "an owner that cannot renew for most of a lease, counted from its last renewal, keeps the session however often others ask for it",
    needs: ["time"],
    async run(make) {
      const { log, advance } = await make();
      await log.claim(sampleRef, { node: "one", leaseMs });
      for (let renewals = 0; renewals < 5; renewals++) {
        advance?.(renewEveryMs);
        expectSame(await log.renew(sampleRef, { epoch: 1, leaseMs }), true, "a renewal");
      }
      for (let awayMs = 0; awayMs < worstMs; awayMs += 500) {
        advance?.(500);
        const answer = await log.claim(sampleRef, { node: "two", leaseMs });
        expectThat(answer.type === "held", `after ${awayMs + 500} ms without a renewal another got the session`);
      }
      expectSame(await log.renew(sampleRef, { epoch: 1, leaseMs }), true, "the renewal after the outage");
      expectSame((await log.append(sampleRef, noteBatch("b1", 0, { epoch: 1 }))).type, "ok", "the append after it");
    },
  },
  {
    id: "renew-many",
    promise: "of many leases renewed at once each is answered by itself, in order: held, older, given back, never claimed",
    async run(make) {
      const { log } = await make();
      const ref = (session: string): LeaseRenewal["ref"] => ({ scope: sampleRef.scope, session });
      for (const session of ["held", "older", "older", "released"]) await log.claim(ref(session), { node: "one", leaseMs });
      await log.release(ref("released"), 1);
      const renewals = ["older", "held", "never", "released", "held"].map((session) => ({ ref: ref(session), epoch: 1, leaseMs }));
      expectSame(await renewMany(log, renewals), [false, true, false, false, true], "the answers");
      expectSame((await log.head(ref("released"))).lease, undefined, "the lease that was given back");
    },
  },
  {
    id: "renew-many-lengths",
    promise: "leases renewed at once run as long as each of them asked for",
    needs: ["time"],
    async run(make) {
      const { log, advance } = await make();
      for (const ref of [sampleRef, secondRef]) await log.claim(ref, { node: "one", leaseMs });
      await renewMany(log, [
        { ref: sampleRef, epoch: 1, leaseMs: 5_000 },
        { ref: secondRef, epoch: 1, leaseMs: 60_000 },
      ]);
      advance?.(5_001);
      expectSame((await log.head(sampleRef)).lease, undefined, "the short one");
      advance?.(50_000);
      expectSame((await log.claim(secondRef, { node: "two", leaseMs })).type, "held", "a claim of the long one");
    },
  },
];
