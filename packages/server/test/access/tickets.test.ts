import { memoryStore } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { scriptedAgent, testServer } from "../test-server.ts";
import { accessScene, as, turn } from "./access-scene.ts";

const users = { anne: { scope: "garden" }, ben: { scope: "kitchen" } } as const;

async function ticketed(path: string, more: Parameters<typeof accessScene>[1] = {}) {
  const scene = accessScene(users, more);
  await scene.send("/api/sessions", { json: { id: "a" }, headers: as("anne") });
  const { body, status } = await scene.ask<{ ticket: string; expiresAt: number }>("/api/tickets", { json: { path }, headers: as("anne") });
  return { ...scene, ...body, status, query: `ticket=${encodeURIComponent(body.ticket)}` };
}

describe("H02: a ticket for a stream", () => {
  it("opens the stream once, without a header, for the caller that asked for it", async () => {
    const { send, refused, query, status, expiresAt, clock } = await ticketed("/api/sessions/a/events?from=now");
    expect([status, expiresAt]).toEqual([201, clock.now() + 30_000]);
    const stream = await send(`/api/sessions/a/events?from=now&${query}`);
    expect([stream.status, stream.headers.get("Content-Type")]).toEqual([200, "text/event-stream"]);
    expect(await refused(`/api/sessions/a/events?from=now&${query}`)).toMatchObject({ status: 401, code: "UNAUTHENTICATED" });
    await stream.body?.cancel();
  });

  it("is refused in the same words when it was used, is late, is for another path or was invented", async () => {
    const { refused, send, query, ticket, clock } = await ticketed("/api/sessions/a/events");
    await send("/api/sessions", { json: { id: "b" }, headers: as("anne") });
    const details = new Set<string>();
    const see = async (path: string): Promise<void> => {
      const problem = await refused(path);
      expect(problem).toMatchObject({ status: 401, code: "UNAUTHENTICATED" });
      expect(JSON.stringify(problem)).not.toContain(ticket);
      details.add(problem.detail);
    };
    await see(`/api/sessions/b/events?${query}`);
    await see(`/api/notifications?${query}`);
    await see(`/api/sessions/a/events?ticket=${ticket.slice(0, -1)}${ticket.endsWith("A") ? "B" : "A"}`);
    await see(`/api/sessions/a/events?ticket=${ticket.replace("garden", "kitchen")}`);
    await see(`/api/sessions/a/events?ticket=${ticket.replace(/\.[0-9a-z]+\./, ".zzzzzzzzz.")}`);
    for (const odd of ["", "x", "garden..", "../x.y.z", "%00"]) await see(`/api/sessions/a/events?ticket=${odd}`);
    await clock.advance(30_000);
    await see(`/api/sessions/a/events?${query}`);
    expect(details.size).toBe(1);
  });

  it("counts for streams alone: any other route asks for credentials", async () => {
    const { refused, query } = await ticketed("/api/sessions");
    expect(await refused(`/api/sessions?${query}`)).toMatchObject({ status: 401 });
    expect(await refused(`/api/sessions/a?${query}`)).toMatchObject({ status: 401 });
    expect(await refused(`/api/tickets?${query}`, { json: { path: "/api/notifications" } })).toMatchObject({ status: 401 });
  });

  it("is used once among nodes that share a store, also when both get it at the same moment", async () => {
    const store = memoryStore();
    const { query, clock } = await ticketed("/api/notifications", { store });
    const nodes = [1, 2, 3].map(() => testServer({ store, clock, authenticate: () => undefined, agents: [scriptedAgent()] }));
    const answers = await Promise.all(nodes.map(({ send }) => send(`/api/notifications?${query}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    await Promise.all(answers.map(({ body }) => body?.cancel()));
    await Promise.all(nodes.map(({ server }) => server.close()));
  });

  it("does not go beyond the rights of its caller: another scope's session does not exist, and the stream ends after five minutes", async () => {
    const scene = await ticketed("/api/sessions/bens/events");
    await scene.send("/api/sessions", { json: { id: "bens" }, headers: as("ben") });
    expect(await scene.refused(`/api/sessions/bens/events?${scene.query}`)).toMatchObject({ status: 404 });
    const { body } = await scene.ask<{ ticket: string }>("/api/tickets", { json: { path: "/api/notifications" }, headers: as("anne") });
    const stream = (await scene.send(`/api/notifications?ticket=${body.ticket}`)).text();
    await scene.clock.advance(300_000);
    await turn();
    expect(await stream).toMatch(/"reason":"credentials_expired"\}\n\n$/);
  });

  it("leaves nothing behind but what the next one removes, and the store never has the ticket itself", async () => {
    const store = memoryStore();
    const { ask, clock, ticket } = await ticketed("/api/notifications", { store });
    const kept = async (): Promise<readonly string[]> => store.blobs.list("garden", { prefix: "ticket-" });
    expect(await kept()).toHaveLength(1);
    for (const key of await kept()) {
      expect(key).not.toContain(ticket.split(".")[2]);
      expect(new TextDecoder().decode((await store.blobs.get("garden", key))?.bytes)).not.toContain(ticket.split(".")[2]);
    }
    await clock.advance(30_000);
    await ask("/api/tickets", { json: { path: "/api/notifications" }, headers: as("anne") });
    await turn();
    expect(await kept()).toHaveLength(1);
  });

  it("needs a path of this server", async () => {
    const { refused } = accessScene(users);
    for (const path of ["api/notifications", "//evil.example/x", "https://evil.example/", "", "x".repeat(2_001)])
      expect(await refused("/api/tickets", { json: { path }, headers: as("anne") })).toMatchObject({ status: 400, code: "INPUT_INVALID" });
  });
});
