import type { SessionLog } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreCase } from "../kit/store-case.ts";
import { expectCode } from "../kit/store-expectation.ts";
import { noteBatch, noteFact, noteFacts, sampleRef, secondRef, titlesIn } from "../samples/sample-facts.ts";
import type { LogUnderTest } from "./log-under-test.ts";

/** A log of five facts whose third was changed behind the store's back, beside a sound one. */
async function damaged(make: () => Promise<LogUnderTest>, seq = 3): Promise<LogUnderTest> {
  const subject = await make();
  for (const ref of [secondRef, sampleRef]) await subject.log.append(ref, { batchId: ref.session, expectedSeq: 0, facts: noteFacts(5) });
  expectThat(subject.damage !== undefined, "The subject has no `damage`: give it one, or name the lack `corrupt`.");
  await subject.damage(sampleRef, seq);
  return subject;
}

const large = (name: string) => Array.from({ length: 4 }, (_, index) => noteFact(`${name}${index}${"x".repeat(250_000)}`));

async function expectDamage(log: SessionLog): Promise<void> {
  await expectCode("SESSION_CORRUPT", log.read(sampleRef));
}

const corruptCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "corrupt-read",
    promise: "a log with a damaged fact is SESSION_CORRUPT to a process that reads it whole or the fact alone, never a log with a gap",
    needs: ["corrupt"],
    async run(make) {
      const { log } = await damaged(make);
      await expectDamage(log);
      await expectCode("SESSION_CORRUPT", log.read(sampleRef, { from: 3, limit: 1 }));
    },
  },
  {
    id: "corrupt-tail",
    promise: "damage of the last fact shows as well",
    needs: ["corrupt"],
    async run(make) {
      const { log } = await damaged(make, 5);
      await expectCode("SESSION_CORRUPT", log.read(sampleRef, { from: 5 }));
    },
  },
  {
    id: "corrupt-append",
    promise: "once it is known to be damaged a log is read-only: appends are refused with SESSION_CORRUPT and change nothing",
    needs: ["corrupt"],
    async run(make) {
      const { log } = await damaged(make);
      await expectDamage(log);
      await expectCode("SESSION_CORRUPT", log.append(sampleRef, noteBatch("b2", 5)));
      expectSame((await log.head(sampleRef)).lastSeq, 5, "the tail");
    },
  },
  {
    id: "corrupt-others",
    promise: "other sessions are read and written as ever",
    needs: ["corrupt"],
    async run(make) {
      const { log } = await damaged(make);
      await log.read(sampleRef).catch(() => {});
      expectSame(await log.append(secondRef, noteBatch("b2", 5)), { type: "ok", lastSeq: 6 }, "an append to the other");
      expectSame((await titlesIn(log, secondRef)).length, 6, "facts of the other");
    },
  },
  {
    id: "corrupt-after-reopen",
    promise: "a damaged log is as damaged after the store was closed and opened again",
    needs: ["corrupt", "reopen"],
    async run(make) {
      const subject = await damaged(make);
      await subject.log.read(sampleRef).catch(() => {});
      await expectDamage((await subject.reopen?.()) ?? subject.log);
    },
  },
  {
    id: "corrupt-append-after-reopen",
    promise: "a log that was seen to be damaged is read-only after the store was closed and opened again, before anybody has read it",
    needs: ["corrupt", "reopen"],
    async run(make) {
      const { log, reopen } = await damaged(make);
      await expectDamage(log);
      const again = (await reopen?.()) ?? log;
      await expectCode("SESSION_CORRUPT", again.append(sampleRef, noteBatch("b2", 5)));
    },
  },
  {
    id: "corrupt-append-another",
    promise: "a log that was seen to be damaged is read-only to another process as well that opens it then",
    needs: ["corrupt", "another"],
    async run(make) {
      const { log, another } = await damaged(make);
      expectThat(another !== undefined, "The subject has no `another`: give it one, or name the lack `another`.");
      await expectDamage(log);
      await expectCode("SESSION_CORRUPT", (await another()).append(sampleRef, noteBatch("b2", 5)));
    },
  },
];

const spaceCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "full",
    promise: "an append for which there is no space answers `full`, writes nothing, and takes nothing from what is there",
    needs: ["full"],
    async run(make) {
      const { log, fill } = await make();
      await log.append(sampleRef, noteBatch("b1", 0));
      expectThat(fill !== undefined, "The subject has no `fill`: give it one, or name the lack `full`.");
      await fill();
      expectSame(await log.append(sampleRef, { batchId: "b2", expectedSeq: 1, facts: large("a") }), { type: "full" }, "the answer");
      expectSame(await titlesIn(log), ["b1"], "the log");
    },
  },
  {
    id: "full-again",
    promise: "the same batch is written when there is space again",
    needs: ["full"],
    async run(make) {
      const { log, fill } = await make();
      const free = await fill?.();
      const batch = { batchId: "b1", expectedSeq: 0, facts: large("a") };
      await log.append(sampleRef, batch);
      await free?.();
      expectSame(await log.append(sampleRef, batch), { type: "ok", lastSeq: 4 }, "the second try");
    },
  },
  {
    id: "unknown",
    promise: "an append whose answer is lost is `unknown`, and the same batch again reports what became of it: written, once",
    needs: ["unknown"],
    async run(make) {
      const { log, loseAnswer } = await make();
      expectThat(loseAnswer !== undefined, "The subject has no `loseAnswer`: give it one, or name the lack `unknown`.");
      loseAnswer();
      expectSame(await log.append(sampleRef, noteBatch("b1", 0)), { type: "unknown" }, "the first answer");
      expectSame(await log.append(sampleRef, noteBatch("b1", 0)), { type: "dup", lastSeq: 1 }, "the second");
      expectSame(await titlesIn(log), ["b1"], "the log");
    },
  },
];

/** Damage, lack of space, lost answers. Capabilities `corrupt`, `full`, `unknown`. */
export const faultCases: readonly StoreCase<LogUnderTest>[] = [...corruptCases, ...spaceCases];
