/* One node of the world: a server, a worker, or both, as a team would run it. */

import type { Logger } from "@loopwright/core";
import { memoryChannel } from "@loopwright/core/memory";
import { cronRules } from "@loopwright/cron";
import { createRuntime, createWorker } from "@loopwright/host";
import { bearerTokens, createHealthServer, createServer } from "@loopwright/server";
import { listen } from "@loopwright/server/node";
import { flawedStore } from "./flawed-store.ts";
import { nodeAgent } from "./node-agent.ts";
import type { NodeSettings } from "./node-settings.ts";
import { deadlyStore, openStore } from "./open-store.ts";
import { guestToken } from "./secrets.ts";
import { guest, home } from "./tenants.ts";

const settings = JSON.parse(process.argv[2] ?? "") as NodeSettings;
process.on("unhandledRejection", (error) => console.error("UNHANDLED", error));
process.on("uncaughtException", (error) => console.error("UNCAUGHT", error));
process.on("warning", (warning) => console.error("WARNING", warning.name, warning.message));

const plain = flawedStore(await openStore(settings.store, settings.flaw), settings.flaw);
const store = settings.killAt ? deadlyStore(plain, settings.killAt) : plain;
const between = settings.redisUrl === undefined ? undefined : await betweenNodes(settings.redisUrl);
const known = bearerTokens({ [guestToken]: { user: "guest", scope: guest.scope } });
const logger: Logger = {
  log(level, message, fields) {
    const say = level === "error" ? console.error : console.log;
    say(message, JSON.stringify(fields));
  },
};
const runtime = createRuntime({
  ...{ agents: [nodeAgent(settings)], store, logger, leaseMs: settings.leaseMs, scheduleRules: cronRules() },
  ...(between ?? { channel: memoryChannel() }),
});
const options = {
  runtime,
  authenticate: (request: Request, from: Parameters<typeof known>[1]) =>
    request.headers.has("authorization") ? known(request, from) : { user: "local", scope: home.scope, trusted: true },
  limits: {
    ...(settings.sweepMs === undefined ? {} : { sweepMs: settings.sweepMs }),
    drainMs: settings.drainMs,
    requestsPerMinute: 1_000_000,
    writesPerMinute: 1_000_000,
    streamsPerPrincipal: 10_000,
    streamsPerScope: 10_000,
    runsPerPrincipal: 10_000,
  },
};
const { role } = settings;
const { node, door } = begin();
const listening = await listen(door, { port: 0 });

process.on("SIGTERM", () => {
  void (async () => {
    await node.handOver();
    await listening.close();
    await between?.queue.close();
    await between?.channel.close();
    await store.close();
    process.exit(0);
  })();
});
process.on("disconnect", () => process.exit(0));
const handles = (): number => process.getActiveResourcesInfo().length;
const answers: { readonly [type: string]: () => object } = {
  handles: () => ({ handles: handles(), quiet }),
  memory() {
    globalThis.gc?.();
    const { rss, heapUsed, external } = process.memoryUsage();
    return { rss, heapUsed, external };
  },
  rss: () => ({ rss: process.memoryUsage.rss() }),
};
process.on("message", ({ type }: { readonly type: string }) => process.send?.({ type, ...answers[type]?.() }));

/** The node that is stopped at the end, and the handler of HTTP requests. */
function begin() {
  if (role === "worker") {
    const worker = createWorker(options);
    return { node: worker, door: createHealthServer({ ...options, host: worker }) };
  }
  const server = createServer({ ...options, role, isOneOfMany: true });
  return { node: server, door: server };
}

/** What carries events and hints from node to node. Loaded where it is wanted. */
async function betweenNodes(url: string) {
  const [{ redisChannel }, { bullQueue }] = await Promise.all([import("@loopwright/channel-redis"), import("@loopwright/queue-bullmq")]);
  return { channel: redisChannel({ url }), queue: bullQueue({ url }) };
}

const quiet = handles();
process.send?.({ type: "ready", port: Number(new URL(listening.url).port) });
