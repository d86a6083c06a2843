import { expect, it } from "vitest";
import { testServer } from "./test-server.ts";

it("the id of a deleted session is answered with 404 to reads and 410 to creations, by every route as in docs/http.md", async () => {
  const { ask, send, refused, server } = testServer();
  await ask("/api/sessions", { json: { id: "a" } });
  expect((await send("/api/sessions/a", { method: "DELETE" })).status).toBe(204);
  for (const path of ["", "/events", "/runs/r"])
    expect(await refused(`/api/sessions/a${path}`), path).toMatchObject({ status: 404, code: "SESSION_NOT_FOUND" });
  for (const path of ["/messages", "/abort"])
    expect(await refused(`/api/sessions/a${path}`, { json: { input: "Hi" } }), path).toMatchObject({
      status: 404,
      code: "SESSION_NOT_FOUND",
    });
  expect(await refused("/api/sessions", { json: { id: "a" } })).toMatchObject({ status: 410, code: "SESSION_CLOSED" });
  expect(await refused("/api/agent/execute", { json: { sessionId: "a", agent: "helper", input: "Hi" } })).toMatchObject({ status: 410 });
  expect(await refused("/api/agent/execute", { json: { sessionId: "a", input: "Hi" } })).toMatchObject({ status: 400 });
  const { body } = await ask<{ paths: Record<string, { post: { responses: Record<string, unknown> } }> }>("/openapi.json");
  for (const path of ["/api/sessions", "/api/agent/execute"]) expect(body.paths[path]?.post.responses, path).toHaveProperty("410");
  await server.close();
});
