import { expect, it } from "vitest";
import { memoryQueue } from "./memory-queue.ts";

const refOf = (session: string) => ({ scope: "local", session });
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A queue whose takes end on request of the test. */
function held(concurrency: number, options?: Parameters<typeof memoryQueue>[0]) {
  const queue = memoryQueue(options);
  const taken: string[] = [];
  const ends: (() => void)[] = [];
  const work = () =>
    queue.work(
      async ({ session }) => {
        taken.push(session);
        await new Promise<void>((resolve) => ends.push(resolve));
      },
      { concurrency },
    );
  return { queue, taken, ends, work };
}

it("hints for a session that waits are one, at the place of the first", async () => {
  const { queue, taken, work } = held(9);
  for (const session of ["a", "b", "a", "a"]) await queue.offer(refOf(session));
  work();
  await settle();
  expect(taken).toEqual(["a", "b"]);
});

it("a hint for a session that is under way is handed on when that is over, once, and never to a second worker meanwhile", async () => {
  const { queue, taken, ends, work } = held(9);
  work();
  work();
  await queue.offer(refOf("a"));
  await settle();
  for (let times = 0; times < 3; times++) await queue.offer(refOf("a"));
  await queue.offer(refOf("b"));
  await settle();
  expect(taken).toEqual(["a", "b"]);
  ends[0]?.();
  await settle();
  expect(taken).toEqual(["a", "b", "a"]);
  ends[2]?.();
  await settle();
  expect(taken).toHaveLength(3);
});

it("a worker is never called within the call of `offer`", async () => {
  const { queue, taken, work } = held(1);
  work();
  const offered = queue.offer(refOf("a"));
  expect(taken).toEqual([]);
  await offered;
  await settle();
  expect(taken).toEqual(["a"]);
});

it("hints go to the worker with the most free places", async () => {
  const queue = memoryQueue();
  const counts = [0, 0];
  for (const at of [0, 1])
    queue.work(
      () => {
        counts[at] = (counts[at] ?? 0) + 1;
        return new Promise<void>(() => {});
      },
      { concurrency: 5 },
    );
  for (let index = 0; index < 6; index++) await queue.offer(refOf(`s${index}`));
  await settle();
  expect(counts).toEqual([3, 3]);
});

it("a worker that throws before it gives a promise has handled its hint", async () => {
  const queue = memoryQueue();
  const taken: string[] = [];
  queue.work(
    ({ session }) => {
      taken.push(session);
      throw new Error("at once");
    },
    { concurrency: 1 },
  );
  await queue.offer(refOf("a"));
  await queue.offer(refOf("b"));
  await settle();
  expect(taken).toEqual(["a", "b"]);
});

it("more sessions than `hintsMax` are refused with QUEUE_UNAVAILABLE; those that wait may be offered again", async () => {
  const { queue, taken, work } = held(9, { hintsMax: 2 });
  await queue.offer(refOf("a"));
  await queue.offer(refOf("b"));
  await expect(queue.offer(refOf("c"))).rejects.toMatchObject({ code: "QUEUE_UNAVAILABLE", retryable: true });
  await queue.offer(refOf("a"));
  work();
  await settle();
  await queue.offer(refOf("c"));
  await settle();
  expect(taken).toEqual(["a", "b", "c"]);
});

it("a full queue takes a hint of a scope with few for the oldest hint of the scope with the most", async () => {
  const { queue, taken, work } = held(9, { hintsMax: 3 });
  for (const session of ["a", "b", "c"]) await queue.offer(refOf(session));
  await queue.offer({ scope: "other", session: "x" });
  await expect(queue.offer(refOf("d"))).rejects.toMatchObject({ code: "QUEUE_UNAVAILABLE" });
  await expect(queue.offer({ scope: "other", session: "y" })).rejects.toMatchObject({ code: "QUEUE_UNAVAILABLE" });
  work();
  await settle();
  expect(taken).toEqual(["b", "x", "c"]);
});
