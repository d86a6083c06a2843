import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, it, onTestFinished } from "vitest";
import { sqliteLog } from "../sqlite-log.ts";
import { WorkerCalls } from "./worker-calls.ts";

const ref = { scope: "local", session: "first" };
const batch = { expectedSeq: 0, batchId: "b1", facts: [{ type: "session.closed", at: 1, v: 1 }] } as const;

const finish = (worker: Worker): Promise<unknown> => worker.terminate();

/** Real threads that each run the code of their turn; the last one's code again for all later threads. */
function threads(answerMsMax: number, ...codes: readonly string[]) {
  const started: Worker[] = [];
  const start = (): Worker => {
    const worker = new Worker(codes[Math.min(started.length, codes.length - 1)] ?? "", { eval: true });
    started.push(worker);
    return worker;
  };
  onTestFinished(async () => {
    await Promise.all(started.map((worker) => worker.terminate()));
  });
  const calls = new WorkerCalls({ path: "x.db", start, finish, answerMsMax });
  return { calls, started, log: sqliteLog(calls, () => 0) };
}

const onMessage = (body: string): string =>
  `const { parentPort } = require("node:worker_threads"); parentPort.on("message", ({ calls }) => { ${body} });`;
const answering = (answer: unknown): string =>
  onMessage(`parentPort.postMessage(calls.map(() => ({ answer: ${JSON.stringify(answer)} })))`);

it("an append whose worker dies is `unknown`, a question is STORE_UNAVAILABLE, and the next call gets a new worker", async () => {
  const { log, started } = threads(60_000, onMessage("process.exit(3)"), answering({ type: "dup", lastSeq: 1 }));
  const [appended, head] = await Promise.allSettled([log.append(ref, batch), log.head(ref)]);
  expect(appended).toMatchObject({ value: { type: "unknown" } });
  expect(head).toMatchObject({ reason: { code: "STORE_UNAVAILABLE", message: expect.stringContaining("x.db") } });
  expect(await log.append(ref, batch)).toEqual({ type: "dup", lastSeq: 1 });
  expect(started).toHaveLength(2);
});

it("a worker that cannot start is reported with its reason", async () => {
  const { log } = threads(60_000, 'throw new Error("no such module")');
  await expect(log.head(ref)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", message: expect.stringContaining("no such module") });
});

it("an append that is not answered in time is `unknown`; later calls are refused at once until the worker answers", async () => {
  const wake = new Int32Array(new SharedArrayBuffer(4));
  const held = 'const { parentPort, workerData } = require("node:worker_threads"); Atomics.wait(workerData, 0, 0);';
  const answers =
    'parentPort.on("message", ({ calls }) => parentPort.postMessage(calls.map(() => ({ answer: { lastSeq: 7, epoch: 0 } }))));';
  const worker = new Worker(held + answers, { eval: true, workerData: wake });
  onTestFinished(async () => void (await worker.terminate()));
  const log = sqliteLog(new WorkerCalls({ path: "x.db", start: () => worker, finish, answerMsMax: 500 }), () => 0);
  expect(await log.append(ref, batch)).toEqual({ type: "unknown" });
  await expect(log.head(ref)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
  const answered = once(worker, "message");
  Atomics.store(wake, 0, 1);
  Atomics.notify(wake, 0);
  await answered;
  expect((await log.head(ref)).lastSeq).toBe(7);
});

it("what is asked while a batch is under way travels together in the next one", async () => {
  const counting = onMessage("parentPort.postMessage(calls.map(() => ({ answer: { lastSeq: calls.length, epoch: 0 } })))");
  const { log } = threads(60_000, counting);
  const first = log.head(ref);
  await Promise.resolve();
  const later = [log.head(ref), log.head(ref), log.head(ref)];
  expect((await first).lastSeq).toBe(1);
  expect((await Promise.all(later)).map(({ lastSeq }) => lastSeq)).toEqual([3, 3, 3]);
});

it("closing ends the thread, and no call starts another", async () => {
  const { calls, started, log } = threads(60_000, answering({ lastSeq: 0, epoch: 0 }));
  await log.head(ref);
  const ended = once(started[0] as Worker, "exit");
  await calls.end();
  await ended;
  await expect(log.head(ref)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", message: expect.stringContaining("closed") });
  expect(started).toHaveLength(1);
});

it("closing waits for no answer of a worker that gives none, and ends its thread", async () => {
  const { calls, started, log } = threads(50, onMessage(""));
  const asked = log.append(ref, batch);
  const closed = calls.end();
  expect(await asked).toEqual({ type: "unknown" });
  await closed;
  await expect(log.head(ref)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", message: expect.stringContaining("closed") });
  await calls.end();
  expect(started).toHaveLength(1);
});
