import type { SessionLog } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreCase } from "../kit/store-case.ts";
import { expectCode } from "../kit/store-expectation.ts";
import { noteBatch, sampleRef, secondRef, titlesIn } from "../samples/sample-facts.ts";
import { dated, later } from "./dated-session.ts";
import type { LogUnderTest } from "./log-under-test.ts";

const thirdRef = { scope: "local", session: "third" };

/** Three sessions that are due one after the other; nothing that the store keeps of the second can be read any more. */
async function ruined(make: () => Promise<LogUnderTest>): Promise<LogUnderTest> {
  const subject = await make();
  for (const [afterMs, ref] of [sampleRef, secondRef, thirdRef].entries()) await dated(subject.log, ref, afterMs);
  expectThat(subject.ruin !== undefined, "The subject has no `ruin`: give it one, or name the lack `ruin`.");
  await subject.ruin(secondRef);
  return subject;
}

/** The due sessions without the ruined one, which a store may name or leave out. */
async function othersDue(log: SessionLog, page: number): Promise<readonly string[]> {
  const due = await log.due({ now: later, limit: page });
  return due.map(({ ref }) => ref.session).filter((session) => session !== secondRef.session);
}

/** One session that cannot be read at all, among others. Capability `ruin`. */
export const ruinCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "ruin-reported",
    promise: "a session of which nothing can be read is SESSION_CORRUPT to its readers, and takes no facts",
    needs: ["ruin"],
    async run(make) {
      const { log } = await ruined(make);
      await expectCode("SESSION_CORRUPT", log.read(secondRef));
      await expectCode("SESSION_CORRUPT", log.append(secondRef, noteBatch("b2", 1)));
    },
  },
  {
    id: "ruin-due",
    promise: "the other sessions are due as before when one session cannot be read",
    needs: ["ruin"],
    async run(make) {
      const { log } = await ruined(make);
      expectSame(await othersDue(log, 10), ["first", "third"], "the due sessions");
      await log.read(secondRef).catch(() => {});
      expectSame(await othersDue(log, 10), ["first", "third"], "the due sessions after the damage was seen");
    },
  },
  {
    id: "ruin-due-after-reopen",
    promise: "the other sessions are due as before also after the store was closed and opened again",
    needs: ["ruin", "reopen"],
    async run(make) {
      const { log, reopen } = await ruined(make);
      expectSame(await othersDue((await reopen?.()) ?? log, 10), ["first", "third"], "the due sessions");
    },
  },
  {
    id: "ruin-others",
    promise: "the other sessions are claimed, written and read as before when one session cannot be read",
    needs: ["ruin"],
    async run(make) {
      const { log } = await ruined(make);
      await log.read(secondRef).catch(() => {});
      expectSame((await log.claim(thirdRef, { node: "n1", leaseMs: 15_000 })).type, "claimed", "a claim of another");
      expectSame(await log.append(thirdRef, noteBatch("b2", 1)), { type: "ok", lastSeq: 2 }, "an append to another");
      expectSame(await titlesIn(log, thirdRef), ["b1", "b2"], "the facts of another");
    },
  },
];
