import { redisStore } from "../src/index.ts";
import { batch, ref } from "./samples.ts";

// Uses a store, is notified of a fact, and leaves everything open: the process has to end by itself.
const store = redisStore({ url: process.argv[2] ?? "", prefix: "idle", deadlineMs: 20_000 });
const notified = new Promise<number>((resolve) => store.log.subscribe?.(ref, resolve));
const held = setInterval(() => {}, 1_000);
await store.log.append(ref, batch(0));
console.log(`told ${await notified}`);
clearInterval(held);
