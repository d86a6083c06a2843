/** The thread that holds the file: takes batches of calls, answers each batch once. */
import { parentPort, workerData } from "node:worker_threads";
import type { Batch, WorkerOptions } from "./operation.ts";
import { StoreEngine } from "./store-engine.ts";

const options: WorkerOptions = workerData;
const engine = new StoreEngine(options);

parentPort?.on("message", ({ calls }: Batch) => {
  parentPort?.postMessage(engine.serve(calls));
  engine.keepProjections();
});
