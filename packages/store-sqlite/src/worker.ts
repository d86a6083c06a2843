/** The thread that holds the file: takes batches of calls, answers each batch once. */
import { parentPort, workerData } from "node:worker_threads";
import type { Batch, WorkerOptions } from "./operation.ts";
import { StoreEngine } from "./store-engine.ts";

/** Absent where the module is loaded outside of a worker thread: there is no file to hold then. */
const port = parentPort;
if (port) {
  const options: WorkerOptions = workerData;
  const engine = new StoreEngine(options);
  port.on("message", ({ calls }: Batch) => {
    port.postMessage(engine.serve(calls));
    engine.keepProjections();
  });
}
