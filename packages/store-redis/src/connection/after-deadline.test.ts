import { once } from "node:events";
import { connect } from "node:net";
import { Worker } from "node:worker_threads";
import { expect, it, onTestFinished } from "vitest";
import { afterDeadline } from "./after-deadline.ts";

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
    afterDeadline(1, () => {
      order.push("deadline");
      resolve();
    });
  });
  socket.write("question");
  // The question is sent by the kernel; this thread reads nothing until the answer has been written and the deadline is past.
  Atomics.wait(hasAnswered, 0, 0, 60_000);
  for (const end = performance.now() + 5; performance.now() < end; );
  await isOver;
  expect(order).toEqual(["answer", "deadline"]);
});
