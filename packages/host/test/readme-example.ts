import { createAgent } from "@loopwright/core";
import { memoryQueue, memoryStore, scripted } from "@loopwright/core/memory";
import { createRuntime, createWorker } from "@loopwright/host";

const agent = createAgent({ name: "helper", provider: scripted([{ text: "Hello from the worker." }]) });
const runtime = createRuntime({ agents: [agent], store: memoryStore(), queue: memoryQueue() });
const worker = createWorker({ runtime });

// Another process would do this: it records a message, which offers the session to the queue, and follows.
const run = runtime.ask("helper", "Hi.", { access: { user: "anne", scope: "garden" }, drives: false });
const result = await run.result();

console.log(JSON.stringify(result.messages.at(-1)));
await worker.handOver();
