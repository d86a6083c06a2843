import type { SessionRef } from "@loopwright/core";
import type { SessionLog } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreCase } from "../kit/store-case.ts";
import { expectSoon } from "../kit/store-expectation.ts";
import { noteBatch, noteFacts, sampleRef, secondRef } from "../samples/sample-facts.ts";
import type { LogUnderTest } from "./log-under-test.ts";

/** The calls of a listener, and how to wait for them. */
interface Ear {
  readonly told: number[];
  readonly hears: (lastSeq: number) => Promise<void>;
  readonly stop: () => void;
}

function earAt({ log, patienceMs = 2_000 }: LogUnderTest, ref: SessionRef = sampleRef): Ear {
  const told: number[] = [];
  const stop = log.subscribe?.(ref, (lastSeq) => told.push(lastSeq)) ?? (() => {});
  const hears = (lastSeq: number): Promise<void> =>
    expectSoon(() => told.includes(lastSeq), { what: `the subscriber is told of seq ${lastSeq}`, withinMs: patienceMs });
  return { told, hears, stop };
}

const append = (log: SessionLog, seq: number): Promise<unknown> => log.append(sampleRef, noteBatch(`b${seq}`, seq - 1));

const tellCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "subscribe",
    promise: "a subscriber is told the last seq soon after an append, and nothing of other sessions",
    needs: ["subscribe"],
    async run(make) {
      const subject = await make();
      const [mine, others] = [earAt(subject), earAt(subject, secondRef)];
      await subject.log.append(sampleRef, { batchId: "b1", expectedSeq: 0, facts: noteFacts(2) });
      await mine.hears(2);
      expectSame(others.told, [], "what the other's subscriber heard");
      mine.stop();
      others.stop();
    },
  },
  {
    id: "subscribe-scopes",
    promise: "a subscriber is told nothing of a session of the same id in another scope",
    needs: ["subscribe"],
    async run(make) {
      const subject = await make();
      const foreign = { ...sampleRef, scope: "other" };
      const [mine, others] = [earAt(subject), earAt(subject, foreign)];
      await append(subject.log, 1);
      await mine.hears(1);
      expectSame(others.told, [], "what the foreign subscriber heard");
      mine.stop();
      others.stop();
    },
  },
  {
    id: "subscribe-written",
    promise: "whoever is told of a fact can read it",
    needs: ["subscribe"],
    async run(make) {
      const subject = await make();
      const { log } = subject;
      const found: Promise<boolean>[] = [];
      const stop = log.subscribe?.(sampleRef, (lastSeq) => found.push(log.read(sampleRef).then(({ length }) => length >= lastSeq)));
      const ear = earAt(subject);
      for (let seq = 1; seq <= 5; seq++) await append(log, seq);
      await ear.hears(5);
      expectThat((await Promise.all(found)).every(Boolean), "a subscriber was told of a fact before it was written");
      stop?.();
      ear.stop();
    },
  },
  {
    id: "subscribe-refused",
    promise: "nobody is told of facts that were refused",
    needs: ["subscribe"],
    async run(make) {
      const subject = await make();
      const ear = earAt(subject);
      await append(subject.log, 8);
      await append(subject.log, 1);
      await ear.hears(1);
      expectThat(
        ear.told.every((lastSeq) => lastSeq <= 1),
        `the subscriber was told ${ear.told.join(", ")}`,
      );
      ear.stop();
    },
  },
  {
    id: "subscribe-removed",
    promise: "a subscriber is told 0 soon after a removal",
    needs: ["subscribe"],
    async run(make) {
      const subject = await make();
      await append(subject.log, 1);
      const ear = earAt(subject);
      await subject.log.remove(sampleRef);
      await ear.hears(0);
      ear.stop();
    },
  },
];

const leaveCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "unsubscribe",
    promise: "a subscriber that has left is told nothing more; the others are",
    needs: ["subscribe"],
    async run(make) {
      const subject = await make();
      const [left, stays] = [earAt(subject), earAt(subject)];
      left.stop();
      await append(subject.log, 1);
      await stays.hears(1);
      expectSame(left.told, [], "what the one that left heard");
      stays.stop();
    },
  },
  {
    id: "subscribe-twice",
    promise: "one function may listen twice: leaving once, however often that is said, leaves the other place",
    needs: ["subscribe"],
    async run(make) {
      const subject = await make();
      const told: number[] = [];
      const listener = (lastSeq: number): void => void told.push(lastSeq);
      const [stop, stopOther] = [subject.log.subscribe?.(sampleRef, listener), subject.log.subscribe?.(sampleRef, listener)];
      stop?.();
      stop?.();
      const ear = earAt(subject);
      await append(subject.log, 1);
      await ear.hears(1);
      expectSame(told.slice(0, 1), [1], "what the function was told");
      stopOther?.();
      ear.stop();
    },
  },
  {
    id: "unsubscribe-inside",
    promise: "a subscriber may leave while it is told; it is told nothing more, and the others are",
    needs: ["subscribe"],
    async run(make) {
      const subject = await make();
      const told: number[] = [];
      const stop = subject.log.subscribe?.(sampleRef, (lastSeq) => {
        told.push(lastSeq);
        stop?.();
      });
      const ear = earAt(subject);
      for (const seq of [1, 2]) {
        await append(subject.log, seq);
        await ear.hears(seq);
      }
      // Another process may learn of both at once.
      expectSame(told.length, 1, "how often the one that left was told");
      ear.stop();
    },
  },
];

async function hearsAnother(ear: Ear, there: SessionLog, seq: number): Promise<void> {
  await append(there, seq);
  await ear.hears(seq);
}

const againCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "subscribe-again",
    promise: "a subscriber that leaves and comes back in one turn is told of what another process appends",
    needs: ["subscribe", "another"],
    async run(make) {
      const subject = await make();
      const there = await openAnother(subject);
      let ear = earAt(subject);
      for (let seq = 1; seq <= 3; seq++) {
        await hearsAnother(ear, there, seq);
        ear.stop();
        ear = earAt(subject);
      }
      await hearsAnother(ear, there, 4);
      ear.stop();
    },
  },
  {
    id: "subscribe-again-early",
    promise:
      "a subscriber that leaves before it was ever told, and comes back in the same turn or the next, is told of what another process appends",
    needs: ["subscribe", "another"],
    async run(make) {
      const subject = await make();
      const there = await openAnother(subject);
      earAt(subject).stop();
      earAt(subject).stop();
      const early = earAt(subject);
      await hearsAnother(early, there, 1);
      early.stop();
      await Promise.resolve();
      earAt(subject).stop();
      const ear = earAt(subject);
      await hearsAnother(ear, there, 2);
      await hearsAnother(ear, there, 3);
      ear.stop();
    },
  },
];

async function openAnother({ another }: LogUnderTest): Promise<SessionLog> {
  expectThat(another !== undefined, "The subject cannot be opened by another process.");
  return another();
}

/** Notifications of subscribers. Capability `subscribe`. */
export const subscribeCases: readonly StoreCase<LogUnderTest>[] = [...tellCases, ...leaveCases, ...againCases];
