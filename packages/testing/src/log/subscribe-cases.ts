import type { SessionRef } from "@loopwright/core";
import type { SessionLog } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreCase } from "../kit/store-case.ts";
import { expectSoon } from "../kit/store-expectation.ts";
import { noteBatch, noteFacts, sampleRef, secondRef } from "../samples/sample-facts.ts";
import type { LogUnderTest } from "./log-under-test.ts";

/** The calls of a listener, and how to wait for them. */
interface Subscriber {
  readonly notified: number[];
  readonly receives: (lastSeq: number) => Promise<void>;
  readonly stop: () => void;
}

function subscriberAt({ log, patienceMs = 2_000 }: LogUnderTest, ref: SessionRef = sampleRef): Subscriber {
  const notified: number[] = [];
  const stop = log.subscribe?.(ref, (lastSeq) => notified.push(lastSeq)) ?? (() => {});
  const receives = (lastSeq: number): Promise<void> =>
    expectSoon(() => notified.includes(lastSeq), { what: `the subscriber is notified of seq ${lastSeq}`, withinMs: patienceMs });
  return { notified, receives, stop };
}

const append = (log: SessionLog, seq: number): Promise<unknown> => log.append(sampleRef, noteBatch(`b${seq}`, seq - 1));

const notifyCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "subscribe",
    promise: "a subscriber is notified of the last seq soon after an append, and nothing of other sessions",
    needs: ["subscribe"],
    async run(make) {
      const subject = await make();
      const [mine, others] = [subscriberAt(subject), subscriberAt(subject, secondRef)];
      await subject.log.append(sampleRef, { batchId: "b1", expectedSeq: 0, facts: noteFacts(2) });
      await mine.receives(2);
      expectSame(others.notified, [], "what the other's subscriber received");
      mine.stop();
      others.stop();
    },
  },
  {
    id: "subscribe-scopes",
    promise: "a subscriber is not notified of a session of the same id in another scope",
    needs: ["subscribe"],
    async run(make) {
      const subject = await make();
      const foreign = { ...sampleRef, scope: "other" };
      const [mine, others] = [subscriberAt(subject), subscriberAt(subject, foreign)];
      await append(subject.log, 1);
      await mine.receives(1);
      expectSame(others.notified, [], "what the foreign subscriber received");
      mine.stop();
      others.stop();
    },
  },
  {
    id: "subscribe-written",
    promise: "a subscriber that is notified of a fact can read it",
    needs: ["subscribe"],
    async run(make) {
      const subject = await make();
      const { log } = subject;
      const found: Promise<boolean>[] = [];
      const stop = log.subscribe?.(sampleRef, (lastSeq) => found.push(log.read(sampleRef).then(({ length }) => length >= lastSeq)));
      const subscriber = subscriberAt(subject);
      for (let seq = 1; seq <= 5; seq++) await append(log, seq);
      await subscriber.receives(5);
      expectThat((await Promise.all(found)).every(Boolean), "a subscriber was notified of a fact before it was written");
      stop?.();
      subscriber.stop();
    },
  },
  {
    id: "subscribe-refused",
    promise: "no subscriber is notified of facts that were refused",
    needs: ["subscribe"],
    async run(make) {
      const subject = await make();
      const subscriber = subscriberAt(subject);
      await append(subject.log, 8);
      await append(subject.log, 1);
      await subscriber.receives(1);
      expectThat(
        subscriber.notified.every((lastSeq) => lastSeq <= 1),
        `the subscriber was notified ${subscriber.notified.join(", ")}`,
      );
      subscriber.stop();
    },
  },
  {
    id: "subscribe-removed",
    promise: "a subscriber is notified of 0 soon after a removal",
    needs: ["subscribe"],
    async run(make) {
      const subject = await make();
      await append(subject.log, 1);
      const subscriber = subscriberAt(subject);
      await subject.log.remove(sampleRef);
      await subscriber.receives(0);
      subscriber.stop();
    },
  },
];

const leaveCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "unsubscribe",
    promise: "a subscriber that has left is notified of nothing more; the others are",
    needs: ["subscribe"],
    async run(make) {
      const subject = await make();
      const [left, stays] = [subscriberAt(subject), subscriberAt(subject)];
      left.stop();
      await append(subject.log, 1);
      await stays.receives(1);
      expectSame(left.notified, [], "what the one that left received");
      stays.stop();
    },
  },
  {
    id: "subscribe-twice",
    promise: "one function may listen twice: leaving once, however often it is repeated, leaves the other place",
    needs: ["subscribe"],
    async run(make) {
      const subject = await make();
      const notified: number[] = [];
      const listener = (lastSeq: number): void => void notified.push(lastSeq);
      const [stop, stopOther] = [subject.log.subscribe?.(sampleRef, listener), subject.log.subscribe?.(sampleRef, listener)];
      stop?.();
      stop?.();
      const subscriber = subscriberAt(subject);
      await append(subject.log, 1);
      await subscriber.receives(1);
      expectSame(notified.slice(0, 1), [1], "what the function received");
      stopOther?.();
      subscriber.stop();
    },
  },
  {
    id: "unsubscribe-inside",
    promise: "a subscriber may leave while it is notified; it is notified of nothing more, and the others are",
    needs: ["subscribe"],
    async run(make) {
      const subject = await make();
      const notified: number[] = [];
      const stop = subject.log.subscribe?.(sampleRef, (lastSeq) => {
        notified.push(lastSeq);
        stop?.();
      });
      const subscriber = subscriberAt(subject);
      for (const seq of [1, 2]) {
        await append(subject.log, seq);
        await subscriber.receives(seq);
      }
      // Another process may learn of both at once.
      expectSame(notified.length, 1, "how often the one that left was notified");
      subscriber.stop();
    },
  },
];

async function receivesAnother(subscriber: Subscriber, there: SessionLog, seq: number): Promise<void> {
  await append(there, seq);
  await subscriber.receives(seq);
}

const againCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "subscribe-again",
    promise: "a subscriber that leaves and comes back in one turn is notified of what another process appends",
    needs: ["subscribe", "another"],
    async run(make) {
      const subject = await make();
      const there = await openAnother(subject);
      let subscriber = subscriberAt(subject);
      for (let seq = 1; seq <= 3; seq++) {
        await receivesAnother(subscriber, there, seq);
        subscriber.stop();
        subscriber = subscriberAt(subject);
      }
      await receivesAnother(subscriber, there, 4);
      subscriber.stop();
    },
  },
  {
    id: "subscribe-again-early",
    promise:
      "a subscriber that leaves before it was ever notified, and comes back in the same turn or the next, is notified of what another process appends",
    needs: ["subscribe", "another"],
    async run(make) {
      const subject = await make();
      const there = await openAnother(subject);
      subscriberAt(subject).stop();
      subscriberAt(subject).stop();
      const early = subscriberAt(subject);
      await receivesAnother(early, there, 1);
      early.stop();
      await Promise.resolve();
      subscriberAt(subject).stop();
      const subscriber = subscriberAt(subject);
      await receivesAnother(subscriber, there, 2);
      await receivesAnother(subscriber, there, 3);
      subscriber.stop();
    },
  },
];

async function openAnother({ another }: LogUnderTest): Promise<SessionLog> {
  expectThat(another !== undefined, "The subject cannot be opened by another process.");
  return another();
}

/** Notifications of subscribers. Capability `subscribe`. */
export const subscribeCases: readonly StoreCase<LogUnderTest>[] = [...notifyCases, ...leaveCases, ...againCases];
