import { expect, it } from "vitest";
import { scriptedAgent, testServer } from "./test-server.ts";

it("a session takes no more inputs while a hundred of them wait, and knows again those that it has", async () => {
  const { ask, refused, server } = testServer({ agents: [scriptedAgent([{ hang: true }])], limits: { writesPerMinute: 1_000 } });
  await ask("/api/sessions", { json: { id: "a" } });
  const send = (count: number) => ({ json: { input: `Input ${count}` }, headers: { "Idempotency-Key": `k${count}` } });
  const path = "/api/sessions/a/messages";
  // The first one is answered; the others wait.
  for (let count = 0; count <= 100; count++) expect((await ask(path, send(count))).status).toBe(202);
  const { detail, ...refusal } = await refused(path, send(101));
  expect(refusal).toMatchObject({ status: 409, code: "SESSION_BUSY" });
  expect(detail).toContain("100 inputs");
  expect(await refused("/api/agent/execute", { json: { sessionId: "a", input: "More" } })).toMatchObject({ code: "SESSION_BUSY" });
  expect(await ask(path, send(100))).toMatchObject({ status: 200, body: { replayed: true } });
  await server.close();
});
