/* A worker, and the list of all modules that were loaded for it. */
import { registerHooks } from "node:module";

const loaded: string[] = [];
registerHooks({
  load(url, context, next) {
    loaded.push(url);
    return next(url, context);
  },
});

const { createAgent } = await import("@loopwright/core");
const { memoryStore, scripted } = await import("@loopwright/core/memory");
const { createRuntime, createWorker } = await import("@loopwright/host");
const runtime = createRuntime({ agents: [createAgent({ name: "helper", provider: scripted([]) })], store: memoryStore() });
const worker = createWorker({ runtime });
await worker.handOver();
console.log(JSON.stringify(loaded));
