import { Worker } from "node:worker_threads";

/** How long a worker without a file waits for the next one. */
const spareMs = 1_000;

/** A worker whose store was closed, with the timer that ends it. It keeps neither the process alive nor a file open. */
let spare: { readonly worker: Worker; readonly timer: NodeJS.Timeout } | undefined;

/**
 * The worker that the store closed last has left, or a new one. A new thread costs some 40 ms of processor time, most of it for
 * loading its modules: a program that opens one store after another, as tests do, pays that once.
 */
export function takeWorker(): Worker {
  const worker = spare?.worker;
  letGo();
  return worker ?? startWorker();
}

/** Keeps a worker that has closed its file for the next store. One is kept; another is ended. */
export async function keepWorker(worker: Worker): Promise<void> {
  if (spare) {
    await worker.terminate();
    return;
  }
  withoutListeners(worker).on("error", letGo).on("exit", letGo);
  worker.unref();
  const timer = setTimeout(() => {
    letGo();
    void worker.terminate();
  }, spareMs);
  timer.unref();
  spare = { worker, timer };
}

/** What happens to the spare worker from here on is the concern of others. */
function letGo(): void {
  clearTimeout(spare?.timer);
  if (spare) withoutListeners(spare.worker);
  spare = undefined;
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
