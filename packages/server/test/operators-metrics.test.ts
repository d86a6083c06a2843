import { memoryStore } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { testServer } from "./test-server.ts";

const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

it("A52: the lines of an application are in `/metrics` for operators alone: the trusted, and those that `authorize` permits", async () => {
  const metrics = () => "turns_total 3";
  const textFor = async (options: object): Promise<string> => (await testServer({ metrics, ...options }).send("/metrics")).text();
  const authenticate = () => ({ user: "anne", scope: "garden" });
  expect(await textFor({})).toMatch(/loopwright_requests_total.*\nturns_total 3\n$/s);
  expect(await textFor({ authenticate })).not.toContain("turns_total");
  expect(await textFor({ authenticate, authorize: () => true })).toContain("\nturns_total 3\n");
  expect(await textFor({ authenticate: () => ({ ...authenticate(), trusted: true }) })).toContain("\nturns_total 3\n");
});

it("lines that cannot be had are logged and missing, and the rest of `/metrics` is served", async () => {
  const { send, logged } = testServer({ metrics: () => Promise.reject(new Error("The counter is broken.")) });
  const response = await send("/metrics");
  expect(response.status).toBe(200);
  expect(await response.text()).toMatch(/^loopwright_runs_active 0$/m);
  expect(logged).toMatchObject([{ level: "error", fields: { cause: "Error: The counter is broken." } }]);
});

it("the `traceparent` of a request is recorded with its input, by both routes; what is none is not", async () => {
  const store = memoryStore();
  const { send } = testServer({ store });
  const traces = async (session: string): Promise<readonly unknown[]> =>
    (await store.log.read({ scope: "local", session })).flatMap((fact) => (fact.type === "input.accepted" ? [fact.trace] : []));
  const json = { sessionId: "a", input: "Hi", context: {} };
  await (await send("/api/agent/execute", { json, headers: { traceparent: trace } })).text();
  await send("/api/sessions/a/messages", { json: { input: "And" }, headers: { traceparent: trace } });
  await send("/api/sessions/a/messages", { json: { input: "Or" }, headers: { traceparent: `${trace}-more` } });
  expect(await traces("a")).toEqual([trace, trace, undefined]);
});
