import { isAgentError } from "@loopwright/core";
import type { SessionLog } from "@loopwright/core/ports";
import { expectThat } from "../kit/kit.ts";
import type { StoreCase } from "../kit/store-case.ts";
import { expectCode } from "../kit/store-expectation.ts";
import { noteBatch, sampleRef, secondRef } from "../samples/sample-facts.ts";
import type { LogUnderTest } from "./log-under-test.ts";

const leaseMs = 15_000;
const thirdRef = { scope: "local", session: "third" };

/** The answers that a store may give for a history whose end is lost. */
const codes = ["STORE_ROLLED_BACK", "HISTORY_LOST", "SESSION_CORRUPT"] as const;
const isNotified = (error: unknown): boolean => codes.some((code) => isAgentError(error, code));

/** An owner that wrote two facts, then two more that a copy of the store does not have, and a process beside it; then the copy was put back. */
async function wentBack(
  make: () => Promise<LogUnderTest>,
  isBeside = false,
): Promise<{ readonly log: SessionLog; readonly beside: SessionLog }> {
  const { log, another, rollBack } = await make();
  expectThat(rollBack !== undefined, "The subject has no `rollBack`: give it one, or name the lack `rollback`.");
  const beside = (isBeside ? await another?.() : undefined) ?? log;
  await log.claim(sampleRef, { node: "owner", leaseMs });
  for (const seq of [0, 1]) await log.append(sampleRef, noteBatch(`b${seq + 1}`, seq, { epoch: 1 }));
  await beside.claim(secondRef, { node: "beside", leaseMs });
  const putBack = await rollBack();
  for (const seq of [2, 3]) await log.append(sampleRef, noteBatch(`b${seq + 1}`, seq, { epoch: 1 }));
  // A claim is where a store that leaves marks leaves one.
  await log.claim(sampleRef, { node: "owner", leaseMs });
  await beside.claim(secondRef, { node: "beside", leaseMs });
  await putBack();
  return { log, beside };
}

/** A store that was put back to an older state under the processes that use it. Capabilities `rollback`, `gaps`, `marks`. */
export const rollbackCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "rollback-append",
    promise: "an owner whose last facts are gone with an older state of the store writes nothing behind the gap",
    needs: ["rollback", "gaps"],
    async run(make) {
      const { log } = await wentBack(make);
      for (const epoch of [2, 1]) {
        const outcome = await log.append(sampleRef, noteBatch("b5", 4, { epoch })).catch((error: unknown) => {
          if (isNotified(error)) return { type: "told" };
          throw error;
        });
        expectThat(
          outcome.type !== "ok" && outcome.type !== "dup",
          `the owner's append under epoch ${epoch} was answered with ${outcome.type}`,
        );
      }
    },
  },
  {
    id: "rollback-read",
    promise:
      "a caller that has written facts that are gone with an older state of the store gets an error when it reads: no shorter history in silence",
    needs: ["rollback"],
    async run(make) {
      const { log } = await wentBack(make);
      const notified = await log.read(sampleRef).then(
        (facts) => `a history of ${facts.length} facts was read`,
        (error: unknown) => (isNotified(error) ? undefined : `the read was rejected with ${String(error)}`),
      );
      expectThat(notified === undefined, `${notified}`);
    },
  },
  {
    id: "rollback-claim",
    promise: "a process that has seen newer data claims no session of an older state, known to it or not: STORE_ROLLED_BACK",
    needs: ["rollback", "marks"],
    async run(make) {
      const { log } = await wentBack(make);
      for (const ref of [thirdRef, sampleRef]) await expectCode("STORE_ROLLED_BACK", log.claim(ref, { node: "owner", leaseMs }));
    },
  },
  {
    id: "rollback-another",
    promise: "once one process has noticed that the store went back, no other one that runs claims or writes there",
    needs: ["rollback", "marks", "another"],
    async run(make) {
      const { log, beside } = await wentBack(make, true);
      await expectCode("STORE_ROLLED_BACK", log.claim(thirdRef, { node: "owner", leaseMs }));
      await expectCode("STORE_ROLLED_BACK", beside.claim(thirdRef, { node: "beside", leaseMs }));
      await expectCode("STORE_ROLLED_BACK", beside.append(thirdRef, noteBatch("third 1", 0)));
    },
  },
];
