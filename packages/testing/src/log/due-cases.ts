import { expectSame } from "../kit/kit.ts";
import type { StoreCase } from "../kit/store-case.ts";
import { noteBatch, sampleAt, sampleRef, secondRef } from "../samples/sample-facts.ts";
import { dated, dueOf, firstDue, later, withDate } from "./dated-session.ts";
import { dueListCases } from "./due-list-cases.ts";
import type { LogUnderTest } from "./log-under-test.ts";

const leaseMs = 15_000;

const dateCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "due-now",
    promise: "a session with the date 0 is due at once",
    async run(make) {
      const { log } = await make();
      await log.append(sampleRef, noteBatch("b1", 0, { due: 0 }));
      expectSame(await log.due({ now: sampleAt }), [{ ref: sampleRef, due: 0 }], "the due sessions");
    },
  },
  {
    id: "due-none",
    promise: "a new log needs no owner until an append gives it a date",
    async run(make) {
      const { log } = await make();
      await log.append(sampleRef, noteBatch("b1", 0));
      expectSame(await dueOf(log), [], "the due sessions");
    },
  },
  {
    id: "due-date",
    promise: "a session is due from its date on, to the millisecond",
    async run(make) {
      const { log } = await withDate(make);
      expectSame(await dueOf(log, { now: sampleAt + 5 }), firstDue, "at its date");
      expectSame(await dueOf(log), firstDue, "later");
    },
  },
  {
    id: "due-early",
    promise: "a session is not due before its date",
    needs: ["exact"],
    async run(make) {
      const { log } = await withDate(make);
      expectSame(await dueOf(log, { now: sampleAt + 4 }), [], "the due sessions");
    },
  },
  {
    id: "due-kept",
    promise: "an append without a date leaves the date as it was",
    async run(make) {
      const { log } = await withDate(make);
      await log.append(sampleRef, noteBatch("b2", 1));
      expectSame(await dueOf(log), firstDue, "the due sessions");
    },
  },
  {
    id: "due-off",
    promise: "an append with the date `null` takes the session off the list",
    needs: ["exact"],
    async run(make) {
      const { log } = await withDate(make);
      await log.append(sampleRef, noteBatch("b2", 1, { due: null }));
      expectSame(await dueOf(log), [], "the due sessions");
    },
  },
  {
    id: "due-sooner",
    promise: "an earlier date of a later append counts",
    async run(make) {
      const { log } = await withDate(make);
      await log.append(sampleRef, noteBatch("b2", 1, { due: sampleAt }));
      expectSame(await dueOf(log, { now: sampleAt }), ["local/first 0"], "the due sessions");
    },
  },
  {
    id: "due-postponed",
    promise: "a later date of a later append counts",
    needs: ["exact"],
    async run(make) {
      const { log } = await withDate(make);
      await log.append(sampleRef, noteBatch("b2", 1, { due: later }));
      expectSame(await dueOf(log, { now: later - 1 }), [], "before the new date");
      expectSame(await dueOf(log), ["local/first 1000000"], "at the new date");
    },
  },
  {
    id: "due-conflict",
    promise: "an append that is refused for a conflict does not change the date",
    async run(make) {
      const { log } = await withDate(make);
      await log.append(sampleRef, noteBatch("b2", 0, { due: null }));
      expectSame(await dueOf(log), firstDue, "the due sessions");
    },
  },
  {
    id: "due-fenced",
    promise: "an append of an old owner does not change the date",
    async run(make) {
      const { log } = await withDate(make);
      await log.append(sampleRef, noteBatch("b2", 1, { epoch: 7, due: null }));
      expectSame(await dueOf(log), firstDue, "the due sessions");
    },
  },
  {
    id: "due-dup",
    promise: "a batch sent again does not bring its old date back",
    async run(make) {
      const { log } = await make();
      await dated(log, sampleRef, null);
      await log.append(sampleRef, noteBatch("b2", 1, { due: sampleAt + 5 }));
      await dated(log, sampleRef, null);
      expectSame(await dueOf(log), firstDue, "the due sessions");
    },
  },
  {
    id: "due-reopen",
    promise: "dates are there after the store was closed and opened again",
    needs: ["reopen"],
    async run(make) {
      const subject = await withDate(make);
      expectSame(await dueOf((await subject.reopen?.()) ?? subject.log), firstDue, "the due sessions");
    },
  },
];

const leaseCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "due-leased",
    promise: "a session that a running lease holds is not due",
    async run(make) {
      const { log } = await withDate(make);
      await log.claim(sampleRef, { node: "one", leaseMs });
      expectSame(await dueOf(log), [], "the due sessions");
    },
  },
  {
    id: "due-lease-over",
    promise: "a session whose owner has died is due as soon as its lease is over",
    needs: ["time"],
    async run(make) {
      const { log, advance } = await withDate(make);
      await log.claim(sampleRef, { node: "one", leaseMs });
      advance?.(leaseMs + 1);
      expectSame(await dueOf(log), firstDue, "the due sessions");
    },
  },
  {
    id: "due-release",
    promise: "a session that was claimed and given back is as due as before",
    async run(make) {
      const { log } = await withDate(make);
      await log.claim(sampleRef, { node: "one", leaseMs });
      await log.release(sampleRef, 1);
      expectSame(await dueOf(log), firstDue, "the due sessions");
    },
  },
  {
    id: "due-release-in-append",
    promise: "an append with a date and `release` makes the session due in one step",
    async run(make) {
      const { log } = await make();
      await log.claim(sampleRef, { node: "one", leaseMs });
      await log.append(sampleRef, noteBatch("b1", 0, { epoch: 1, release: true, due: sampleAt + 5 }));
      expectSame(await dueOf(log), firstDue, "the due sessions");
    },
  },
];

const setCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "set-due",
    promise: "`setDue` gives a date to a session whose log ends where its reader has seen it",
    async run(make) {
      const { log } = await make();
      await log.append(sampleRef, noteBatch("b1", 0));
      await log.setDue(sampleRef, { expectedSeq: 1, due: sampleAt + 5 });
      expectSame(await dueOf(log), firstDue, "the due sessions");
    },
  },
  {
    id: "set-due-off",
    promise: "`setDue` takes a session off the list, and its neighbours stay",
    async run(make) {
      const { log } = await withDate(make);
      await dated(log, secondRef, 6);
      await log.setDue(sampleRef, { expectedSeq: 1, due: null });
      expectSame(await dueOf(log), ["local/second 6"], "the due sessions");
    },
  },
  {
    id: "set-due-late",
    promise: "`setDue` does nothing after an append that came since",
    async run(make) {
      const { log } = await withDate(make);
      await log.setDue(sampleRef, { expectedSeq: 0, due: null });
      await log.setDue(sampleRef, { expectedSeq: 2, due: null });
      expectSame(await dueOf(log), firstDue, "the due sessions");
    },
  },
  {
    id: "set-due-unknown",
    promise: "`setDue` of a session without facts does nothing",
    async run(make) {
      const { log } = await make();
      await log.setDue(sampleRef, { expectedSeq: 3, due: sampleAt });
      expectSame(await dueOf(log), [], "the due sessions");
      expectSame((await log.append(sampleRef, noteBatch("b1", 0))).type, "ok", "the first append");
    },
  },
  {
    id: "due-closed",
    promise: "a closed session is due at the date that its last append gave",
    async run(make) {
      const { log } = await withDate(make);
      const facts = [{ type: "session.closed", at: sampleAt, v: 2 }] as const;
      await log.append(sampleRef, { expectedSeq: 1, batchId: "b2", facts, due: later });
      expectSame(await dueOf(log), ["local/first 1000000"], "the due sessions");
    },
  },
  {
    id: "due-removed",
    promise: "a removed session is not due and cannot be made so",
    async run(make) {
      const { log } = await withDate(make);
      await log.remove(sampleRef);
      expectSame(await dueOf(log), [], "the due sessions");
      for (const expectedSeq of [0, 1]) await log.setDue(sampleRef, { expectedSeq, due: sampleAt });
      expectSame(await dueOf(log), [], "the due sessions after `setDue`");
    },
  },
];

/** When a session needs an owner. Needs `exact` where a store could name too many, which is harmless. */
export const dueCases: readonly StoreCase<LogUnderTest>[] = [...dateCases, ...dueListCases, ...leaseCases, ...setCases];
