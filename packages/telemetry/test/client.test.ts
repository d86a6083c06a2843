import { telemetryRequests } from "@loopwright/client/telemetry";
import { createAgent } from "@loopwright/core";
import { fixedPrices, memoryLedger, scripted } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { createServer } from "@loopwright/server";
import { expect, it } from "vitest";
import {
  cacheRoute,
  cacheWatch,
  latencyEvents,
  latencyRoute,
  memoryEvents,
  memoryUsage,
  quotaLimits,
  quotasRoute,
  turnObserver,
  usageObserver,
  usageRoute,
} from "../src/index.ts";
import { anne } from "./telemetry-server.ts";

it("A49, A50: the client reads usage, latency, the cache of a session and quotas from a server that has them, and a typed error from one that has not", async () => {
  const [events, usage] = [memoryEvents(), memoryUsage()];
  const cache = cacheWatch({ events });
  const limits = quotaLimits({ "user/*/*": { tokens: 50_000, per: "day" } });
  const ledger = memoryLedger({ limits });
  const provider = cache.watch(scripted(() => ({ text: "Hello.", usage: { input: 1_000, output: 200 } }), { model: "small" }));
  const prices = fixedPrices({ small: { inputUsd: 1, outputUsd: 5 } });
  const observers = [turnObserver({ onTurn: latencyEvents(events) }), usageObserver({ usage }), cache.observer];
  const runtime = createRuntime({ agents: [createAgent({ name: "helper", provider, prices })], ledger, observers });
  const routes = [
    usageRoute({ usage }),
    cacheRoute({ events }),
    quotasRoute({ ledger, limits }),
    latencyRoute({ events, reachOf: () => "scope" }),
  ];
  const server = createServer({ runtime, authenticate: anne, routes });
  const plain = createServer({ runtime, authenticate: anne });
  const through = (to: typeof server) =>
    telemetryRequests({ url: "http://localhost/", fetch: async (request) => to.fetch(request, { remoteAddress: "127.0.0.1" }) });
  const client = through(server);
  for (let run = 0; run < 3; run++) await runtime.ask("helper", "Hi.", { id: `s${run}`, access: anne() }).result();

  expect(await client.usage({ by: ["user", "model"] })).toMatchObject([{ user: "anne", model: "small", calls: 3, costUsd: 0.006 }]);
  expect(await client.usage({ user: "ben" })).toEqual([]);
  await expect(client.usage({ from: "yesterday" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  expect(await client.latency()).toMatchObject({ turns: 3, models: [{ model: "small", turns: 3 }] });
  expect(await client.cache("s1")).toMatchObject({ findings: [{ verdict: "first" }] });
  await expect(client.cache("none")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  expect(await client.quotas()).toMatchObject([{ account: "user/team/anne", tokens: { limit: 50_000, spent: 3_600 } }]);
  for (const ask of [() => through(plain).usage(), () => through(plain).latency(), () => through(plain).quotas()])
    await expect(ask()).rejects.toMatchObject({ code: "ROUTE_NOT_FOUND" });
});
