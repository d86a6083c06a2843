import type { RunQueue } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreCase, StoreKit } from "../kit/store-case.ts";
import { expectCode } from "../kit/store-expectation.ts";
import { sampleRef, secondRef } from "../samples/sample-facts.ts";
import { type QueueUnderTest, Taker } from "./queue-under-test.ts";

const refOf = (session: string) => ({ scope: "local", session });
const first = "local/first";

async function offerAll(queue: RunQueue, sessions: readonly string[]): Promise<void> {
  for (const session of sessions) await queue.offer(refOf(session));
}

const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `s${index}`);

const handCases: readonly StoreCase<QueueUnderTest>[] = [
  {
    id: "handed",
    promise: "a session that is offered is handed to a worker, with its scope",
    async run(make) {
      const subject = await make();
      const taker = new Taker(subject);
      await subject.queue.offer(sampleRef);
      await taker.takesExactly([first]);
    },
  },
  {
    id: "waits",
    promise: "what is offered while no worker runs waits for the first worker",
    async run(make) {
      const subject = await make();
      await offerAll(subject.queue, ["a", "b"]);
      await new Taker(subject).takesExactly(["local/a", "local/b"]);
    },
  },
  {
    id: "all",
    promise: "of many sessions each is handed to one of the workers, once",
    async run(make) {
      const subject = await make();
      const takers = [new Taker(subject), new Taker(subject)];
      await offerAll(subject.queue, numbered(60));
      // One more hint at the end: a queue that delivers twice has done so by then.
      const seen = (): readonly string[] => takers.flatMap(({ taken }) => taken);
      const [one, two] = takers;
      while (seen().length < 60) await Promise.race([one?.takes(one.taken.length + 1), two?.takes(two.taken.length + 1)]);
      await subject.queue.offer(sampleRef);
      while (!seen().includes(first)) await Promise.race([one?.takes(one.taken.length + 1), two?.takes(two.taken.length + 1)]);
      expectSame([...seen()].sort(), [first, ...numbered(60).map((session) => `local/${session}`)].sort(), "what was handed out");
    },
  },
  {
    id: "scopes",
    promise: "sessions of one id in two scopes are two",
    async run(make) {
      const subject = await make();
      await subject.queue.offer(sampleRef);
      await subject.queue.offer({ ...sampleRef, scope: "other" });
      await new Taker(subject).takesExactly([first, "other/first"]);
    },
  },
  {
    id: "after",
    promise: "a session that was handled is handed on when it is offered anew",
    async run(make) {
      const subject = await make();
      const taker = new Taker(subject);
      for (let times = 1; times <= 3; times++) {
        await subject.queue.offer(sampleRef);
        await taker.takes(times);
      }
    },
  },
  {
    id: "under-way",
    promise: "a hint that comes while its session is under way is not lost",
    async run(make) {
      const subject = await make();
      const taker = new Taker(subject, { holds: true });
      await subject.queue.offer(sampleRef);
      await taker.takes(1);
      await subject.queue.offer(sampleRef);
      taker.letGo();
      await taker.takes(2);
    },
  },
  {
    id: "nodes",
    promise: "what one node offers another takes",
    needs: ["nodes"],
    async run(make) {
      const subject = await make();
      expectThat(subject.other !== undefined, "The subject has no `other`: give it one, or name the lack `nodes`.");
      const taker = new Taker({ ...subject, queue: subject.other });
      await subject.queue.offer(sampleRef);
      await taker.takesExactly([first]);
    },
  },
];

const workCases: readonly StoreCase<QueueUnderTest>[] = [
  {
    id: "concurrency",
    promise: "a worker has as many sessions under way as it may, and no more",
    async run(make) {
      const subject = await make();
      const taker = new Taker(subject, { concurrency: 3, holds: true });
      await offerAll(subject.queue, numbered(9));
      await taker.takes(3);
      taker.letGo();
      await taker.takes(9);
      expectSame(taker.mostAtOnce, 3, "sessions under way at once");
    },
  },
  {
    id: "failing",
    promise: "a worker that fails has handled its session: its place is free, and the hint is not handed on again",
    async run(make) {
      const subject = await make();
      const taker = new Taker(subject, { concurrency: 1, fails: true });
      await offerAll(subject.queue, ["a", "b", "c"]);
      await taker.takesExactly(["local/a", "local/b", "local/c"]);
    },
  },
  {
    id: "stop",
    promise: "a worker that was stopped is handed nothing more; others are",
    async run(make) {
      const subject = await make();
      const stopped = new Taker(subject);
      await stopped.worker.stop();
      const stays = new Taker(subject);
      await offerAll(subject.queue, numbered(9));
      await stays.takes(9);
      expectSame(stopped.taken, [], "what the stopped worker was handed");
    },
  },
  {
    id: "stop-waits",
    promise: "stopping ends when what is under way is handled, and twice is once",
    async run(make) {
      const subject = await make();
      const taker = new Taker(subject, { holds: true });
      await subject.queue.offer(sampleRef);
      await taker.takes(1);
      let isStopped = false;
      const stopping = Promise.all([taker.worker.stop(), taker.worker.stop()]).then(() => {
        isStopped = true;
      });
      const stays = new Taker(subject);
      await subject.queue.offer(secondRef);
      await stays.takes(1);
      expectSame(isStopped, false, "stopped while a session is under way");
      taker.letGo();
      await stopping;
      await taker.worker.stop();
    },
  },
  {
    id: "left",
    promise: "what a stopped worker has not taken another one gets",
    async run(make) {
      const subject = await make();
      const stopped = new Taker(subject, { concurrency: 1, holds: true });
      await offerAll(subject.queue, ["a", "b", "c"]);
      await stopped.takes(1);
      const stopping = stopped.worker.stop();
      stopped.letGo();
      await stopping;
      await new Taker(subject).takesExactly(["local/a", "local/b", "local/c"].filter((each) => each !== stopped.taken[0]));
    },
  },
  {
    id: "close",
    promise: "closing stops the workers and waits for them; twice is once, and nothing can be offered any more",
    async run(make) {
      const subject = await make();
      const taker = new Taker(subject, { holds: true });
      await subject.queue.offer(sampleRef);
      await taker.takes(1);
      let isClosed = false;
      const closing = subject.queue.close().then(() => {
        isClosed = true;
      });
      await Promise.resolve();
      expectSame(isClosed, false, "closed while a session is under way");
      taker.letGo();
      await closing;
      await subject.queue.close();
      await expectCode("QUEUE_UNAVAILABLE", subject.queue.offer(sampleRef));
    },
  },
];

const fairCases: readonly StoreCase<QueueUnderTest>[] = [
  {
    id: "backlog",
    promise: "a scope with many sessions in a backlog does not hold up the few of another scope",
    async run(make) {
      const subject = await make();
      await offerAll(subject.queue, numbered(60));
      for (const session of ["a", "b", "c"]) await subject.queue.offer({ scope: "quiet", session });
      const taker = new Taker(subject, { concurrency: 1 });
      await taker.takes(63);
      const last = taker.taken.lastIndexOf("quiet/c");
      expectThat(last <= 2 * 3, `The last of three sessions of a scope came as number ${last + 1}, behind the backlog of another scope.`);
    },
  },
  {
    id: "turns",
    promise: "a scope that offers again and again does not hold up the backlog of another scope",
    async run(make) {
      const subject = await make();
      let offers = 0;
      const offerNext = async (): Promise<void> => {
        // Bounded: in a queue within this process such a worker would never let a timer of the test run.
        if (offers < 40) await subject.queue.offer({ scope: "eager", session: `e${offers++}` });
      };
      await offerAll(subject.queue, numbered(30));
      for (let ahead = 0; ahead < 3; ahead++) await offerNext();
      const taker = new Taker(subject, { concurrency: 1, onTake: offerNext });
      await taker.takes(24);
      const served = taker.taken.slice(0, 24).filter((key) => key.startsWith("local/")).length;
      expectThat(served >= 8, `Of 24 sessions ${served} came from a backlog of 30, the others from a scope that offers one after each.`);
    },
  },
];

/**
 * The promises of `RunQueue`, as far as nothing fails: hints are never the truth, and a sweep finds what a lost one announced.
 * Capability `nodes`: the subject has a second view of the same queue.
 */
export const runQueueKit: StoreKit<QueueUnderTest> = [...handCases, ...workCases, ...fairCases];
