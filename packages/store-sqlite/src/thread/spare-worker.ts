import { Worker } from "node:worker_threads";

/** How long a worker without a file waits for the next one. */
const spareMs = 1_000;
/** As many stores as a program commonly closes at once. */
const sparesMax = 4;

/** Workers whose stores were closed, each with the timer that ends it. They keep neither the process alive nor a file open. */
const spares = new Map<Worker, NodeJS.Timeout>();

/**
 * The worker that a closed store has left, or a new one. A new thread costs some 40 ms of processor time, most of it for
 * loading its modules: a program that opens one store after another, as tests do, pays that once.
 */
export function takeWorker(): Worker {
  const [worker] = spares.keys();
  if (worker === undefined) return startWorker();
  letGo(worker);
  return worker;
}

/** Keeps a worker that has closed its file for the next store. Four are kept; another is ended. */
export async function keepWorker(worker: Worker): Promise<void> {
  if (spares.size >= sparesMax) {
    await worker.terminate();
    return;
  }
  const gone = (): void => letGo(worker);
  withoutListeners(worker).on("error", gone).on("exit", gone);
  worker.unref();
  const timer = setTimeout(() => {
    letGo(worker);
    void worker.terminate();
  }, spareMs);
  timer.unref();
  spares.set(worker, timer);
}

/** What happens to the worker from here on is the concern of others. */
function letGo(worker: Worker): void {
  clearTimeout(spares.get(worker));
  spares.delete(worker);
  withoutListeners(worker);
}

/** Each by its name: a worker has listeners of its own, without which no message arrives. */
function withoutListeners(worker: Worker): Worker {
  for (const event of ["message", "error", "exit"]) worker.removeAllListeners(event);
  return worker;
}

function startWorker(): Worker {
  const isSource = import.meta.url.endsWith(".ts");
  return new Worker(new URL(isSource ? "../worker.ts" : "./worker.js", import.meta.url), {
    name: "loopwright-store",
    // Not the parent's flags: some of them, such as --input-type, are refused here.
    execArgv: ["--disable-warning=ExperimentalWarning", ...(isSource ? ["--conditions=@loopwright/source"] : [])],
  });
}
