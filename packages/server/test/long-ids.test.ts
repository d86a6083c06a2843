import { expect, it } from "vitest";
import { testServer } from "./test-server.ts";

const long = "x".repeat(9_000);

it("an error names an id that a caller made up cut to a length, on every route", async () => {
  const { refused, send } = testServer();
  await (await send("/api/sessions", { json: { id: "s" } })).text();
  const results = [{ role: "tool_result", toolCallId: long, content: "a" }];
  const problems = [
    await refused(`/api/sessions/${long}`),
    await refused(`/api/sessions/${long}/messages`, { json: { input: "Hi" } }),
    await refused(`/api/sessions/s/runs/${long}`),
    await refused(`/api/files/${long}`),
    await refused("/api/sessions/s/tool-results", { json: { results } }),
    await refused("/api/sessions/s/messages", { json: { input: results } }),
    await refused(`/api/sessions/s/approvals/${long}`, { json: { decision: "allow" } }),
    await refused("/api/sessions/s/messages", { json: { input: "Hi", parent: long } }),
    await refused("/api/sessions/s/messages", { json: { regenerate: long } }),
    await refused("/api/sessions/s", { method: "PATCH", json: { head: long } }),
    await refused("/api/agent/execute", { json: { input: "Hi", agent: long } }),
    await refused("/api/agent/execute", { json: { input: "Hi", sessionId: long, context: {} } }),
    await refused("/api/sessions", { json: { id: long } }),
    await refused(`/api/tools?agent=${long}`),
    await refused(`/api/notifications?session=${long}`),
    await refused(`/api/sessions/s/events?after=${long}`),
  ];
  for (const { headers: _, ...problem } of problems) {
    expect(problem.status).toBeGreaterThanOrEqual(400);
    expect(problem.status).toBeLessThan(500);
    const named = problem.detail.match(/x{20,}/g) ?? [];
    expect([problem.detail.slice(0, 200), named.length]).toEqual([problem.detail.slice(0, 200), Math.min(named.length, 1)]);
    expect(JSON.stringify(problem).length).toBeLessThan(1_500);
  }
});
