import { redisBackend } from "@loopwright/backend-redis";
import { createClient } from "@loopwright/client";
import { createAgent } from "@loopwright/core";
import { scripted, silentLogger } from "@loopwright/core/memory";
import { createRuntime, createWorker } from "@loopwright/host";
import { createServer } from "@loopwright/server";
import { listen } from "@loopwright/server/node";
import { redisMissing, startRedis } from "@loopwright/simulator/node";
import { expect, it, onTestFinished } from "vitest";

const missing = redisMissing();
if (missing) console.info(`Skipped: a server and a worker over the backend on Redis: ${missing}.`);

it.skipIf(missing)("a server and a worker on one Redis share sessions, events and hints by one line each", async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const agents = [createAgent({ name: "helper", provider: scripted([{ text: "Hello from the worker." }]) })];
  const start = () => createRuntime({ agents, logger: silentLogger, ...redisBackend(redis.url, { prefix: "test" }) });
  const [front, back] = [start(), start()];
  const server = createServer({ runtime: front, role: "server" });
  const worker = createWorker({ runtime: back });
  const listening = await listen(server);
  const deltas: string[] = [];
  const run = createClient({ url: listening.url }).execute("Hi.", {});
  for await (const event of run) if (event.type === "text_delta") deltas.push(event.delta);
  expect([deltas.join(""), (await run.result()).status]).toEqual(["Hello from the worker.", "completed"]);
  await worker.handOver();
  await server.handOver();
  await listening.close();
  await Promise.all([front.close(), back.close()]);
});
