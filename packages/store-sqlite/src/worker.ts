/** The thread that holds a file: takes batches of calls, answers each batch once. It may hold another file after the one before was closed. */
import { parentPort } from "node:worker_threads";
import type { WorkerMessage } from "./operation.ts";
import { StoreEngine } from "./store-engine.ts";

/** Absent where the module is loaded outside of a worker thread: there is no file to hold then. */
const port = parentPort;
if (port) {
  // A report of a crash lists the variables of the process once more for each thread, and each thread leaves them out by itself.
  process.report.excludeEnv = true;
  let engine: StoreEngine | undefined;
  port.on("message", (message: WorkerMessage) => {
    if ("open" in message) engine = new StoreEngine(message.open);
    else if (engine) {
      port.postMessage(engine.serve(message.calls));
      engine.keepProjections();
    }
  });
}
