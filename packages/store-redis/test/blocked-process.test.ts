import { once } from "node:events";
import { connect } from "node:net";
import { Worker } from "node:worker_threads";
import { startDeadline, systemClock } from "@loopwright/core/memory";
import { describe, expect, it, onTestFinished } from "vitest";
import { missing, redisFixture } from "./redis-fixture.ts";

const ref = { scope: "acme", session: "s1" };

/** Stops this process for so long, without use of a processor. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

it("an answer that came in time is read before the deadline passes, although the process was blocked until after it", async () => {
  // The server answers in a thread of its own, while this one is blocked.
  const code = `const { createServer } = require("node:net"); const { parentPort, workerData } = require("node:worker_threads");
    const server = createServer((socket) => socket.on("data", () => socket.write("answer", () => { Atomics.store(workerData, 0, 1); Atomics.notify(workerData, 0); })));
    server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));`;
  const hasAnswered = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(code, { eval: true, workerData: hasAnswered });
  onTestFinished(async () => void (await worker.terminate()));
  const [answering] = (await once(worker, "message")) as [number];
  const socket = connect(answering, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  const order: string[] = [];
  const isOver = new Promise<void>((resolve) => {
    socket.once("data", () => order.push("answer"));
    startDeadline(systemClock, { ms: 1 }, () => {
      order.push("deadline");
      resolve();
    });
  });
  socket.write("question");
  // The question is sent by the kernel; this thread reads nothing until the answer has been written and the deadline is past.
  Atomics.wait(hasAnswered, 0, 0, 60_000);
  block(5);
  await isOver;
  expect(order).toEqual(["answer", "deadline"]);
});

describe.skipIf(missing)("a process that was blocked for longer than the deadline", () => {
  const fixture = redisFixture();

  it("still waits for the answer of a Redis that could not answer meanwhile", async () => {
    const store = fixture.open({ deadlineMs: 2_000 });
    await store.log.head(ref);
    fixture.redis.pause();
    const answer = store.log.head(ref);
    // The command leaves; Redis is stopped, and this process for longer than the deadline.
    await new Promise(setImmediate);
    block(2_050);
    fixture.redis.resume();
    expect(await answer).toBeDefined();
  });
});
