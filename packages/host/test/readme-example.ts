import { createAgent, createSession } from "@loopwright/core";
import { memoryQueue, memoryStore, scripted } from "@loopwright/core/memory";
import { createWorker } from "@loopwright/host";

const agent = createAgent({ name: "helper", provider: scripted([{ text: "Hello from the worker." }]) });
const shared = { agents: [agent], store: memoryStore(), queue: memoryQueue() };
const worker = createWorker(shared);

// Another process would do this: it records a message, offers the session to the queue, and follows.
const session = createSession({ agent, store: shared.store, id: "a", access: { user: "anne", scope: "garden" }, drives: false });
await session.submit("Hi.");
await shared.queue.offer({ scope: "garden", session: "a" });
await new Promise<void>((resolve) => void session.follow({ events() {}, rested: resolve }));

console.log(JSON.stringify(session.messages.at(-1)));
await worker.handOver();
