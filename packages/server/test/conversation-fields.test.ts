import type { SessionSnapshot } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { eventsOf, testServer } from "./test-server.ts";

it("A30: a conversation is read with its id, its participants, its turns in order, its times, and its title, and its time moves with every turn", async () => {
  const server = testServer();
  await server.ask("/api/sessions", { json: { id: "roses" } });
  const read = async (): Promise<SessionSnapshot> => (await server.ask<SessionSnapshot>("/api/sessions/roses")).body;
  let last = await read();
  expect(last.createdAt).toBeGreaterThan(0);
  for (const [turn, input] of ["Where do roses grow?", "And tulips?"].entries()) {
    await server.ask("/api/sessions/roses/messages", { json: { input } });
    await eventsOf(server, "roses");
    const next = await read();
    expect(next).toMatchObject({ sessionId: "roses", createdAt: last.createdAt, title: "Where do roses grow?" });
    expect(next.participants).toEqual([expect.any(String), next.agent]);
    expect(next.updatedAt).toBeGreaterThan(last.updatedAt);
    expect(next.messages.map(({ message }) => message.role)).toEqual(Array.from({ length: turn + 1 }, () => ["user", "assistant"]).flat());
    expect(next.messages.map(({ at }) => at)).toEqual(next.messages.map(({ at }) => at).toSorted((one, other) => one - other));
    last = next;
  }
});
