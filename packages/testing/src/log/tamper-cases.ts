import type { SessionLog, SessionRef } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreCase } from "../kit/store-case.ts";
import { expectCode } from "../kit/store-expectation.ts";
import { noteBatch, sampleRef, secondRef, titlesIn } from "../samples/sample-facts.ts";
import type { LogUnderTest, Tampering } from "./log-under-test.ts";

const ways: readonly Tampering[] = ["changed", "missing", "inserted"];
const titlesOf = ({ session }: SessionRef): readonly string[] => [1, 2, 3, 4, 5].map((seq) => `${session} ${seq}`);

/** Two logs of five facts, a batch each; the third record of one of them was tampered with. */
async function tampered(make: () => Promise<LogUnderTest>, way: Tampering): Promise<LogUnderTest> {
  const subject = await make();
  for (const ref of [secondRef, sampleRef])
    for (const [seq, title] of titlesOf(ref).entries()) await subject.log.append(ref, noteBatch(title, seq));
  expectSame(await titlesIn(subject.log), titlesOf(sampleRef), "the log as it was written");
  expectThat(subject.tamper !== undefined, "The subject has no `tamper`: give it one, or name the lack `tamper`.");
  await subject.tamper(sampleRef, 3, way);
  return subject;
}

/** The log is reported as damaged, and the one beside it is whole. */
async function expectSeen(log: SessionLog): Promise<void> {
  await expectCode("SESSION_CORRUPT", log.read(sampleRef));
  expectSame(await titlesIn(log, secondRef), titlesOf(secondRef), "the log of another session");
}

function seen(way: Tampering, promise: string): StoreCase<LogUnderTest> {
  return {
    id: `tamper-${way}`,
    promise,
    needs: ["tamper"],
    async run(make) {
      const { log } = await tampered(make, way);
      await expectSeen(log);
    },
  };
}

/** Records that an attacker changed, removed or inserted. Capability `tamper`. */
export const tamperCases: readonly StoreCase<LogUnderTest>[] = [
  seen(
    "changed",
    "a record that was changed and sealed anew behind the store's back is SESSION_CORRUPT to a process that reads the log whole",
  ),
  seen("missing", "a record that was taken out of a log is SESSION_CORRUPT, never a gap or a shorter history"),
  seen("inserted", "a record that was put between two others is SESSION_CORRUPT, never one more fact"),
  {
    id: "tamper-append",
    promise: "a log that was seen to be tampered with takes no more facts",
    needs: ["tamper"],
    async run(make) {
      for (const way of ways) {
        const { log } = await tampered(make, way);
        await expectSeen(log);
        await expectCode("SESSION_CORRUPT", log.append(sampleRef, noteBatch("b6", 5)));
      }
    },
  },
  {
    id: "tamper-reopen",
    promise: "what was tampered with is seen as well by a store that is opened afterwards",
    needs: ["tamper", "reopen"],
    async run(make) {
      for (const way of ways) {
        const { log, reopen } = await tampered(make, way);
        await expectSeen((await reopen?.()) ?? log);
      }
    },
  },
  {
    id: "tamper-another",
    promise: "what was tampered with is seen as well by another process that has not read the log before",
    needs: ["tamper", "another"],
    async run(make) {
      for (const way of ways) {
        const { log, another } = await tampered(make, way);
        await expectSeen((await another?.()) ?? log);
      }
    },
  },
];
