import { expect, it, onTestFinished } from "vitest";
import { listen } from "../src/node/listen.ts";
import { scriptedAgent, testServer } from "./test-server.ts";

it("a session takes no more inputs while a hundred of them wait, and knows again those that it has", async () => {
  const { server } = testServer({ agents: [scriptedAgent([{ hang: true }])], limits: { writesPerMinute: 1_000 } });
  const { url, close } = await listen(server);
  onTestFinished(async () => {
    await server.close();
    await close();
  });
  const ask = async (path: string, json: object, headers: Record<string, string> = {}) => {
    const init = { method: "POST", body: JSON.stringify(json), headers: { "Content-Type": "application/json", ...headers } };
    const response = await fetch(`${url}${path}`, init);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  await ask("/api/sessions", { id: "a" });
  const send = (count: number) => ask("/api/sessions/a/messages", { input: `Input ${count}` }, { "Idempotency-Key": `k${count}` });
  // The first one is answered; the others wait.
  for (let count = 0; count <= 100; count++) expect((await send(count)).status).toBe(202);
  const refusal = { status: 409, body: { code: "SESSION_BUSY", detail: expect.stringContaining("100 inputs") } };
  expect(await send(101)).toMatchObject(refusal);
  expect(await ask("/api/agent/execute", { sessionId: "a", input: "More" })).toMatchObject(refusal);
  expect(await send(100)).toMatchObject({ status: 200, body: { replayed: true } });
});
