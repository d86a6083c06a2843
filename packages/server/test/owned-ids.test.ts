import { createSession } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import { AgentError, type SessionSnapshot } from "@loopwright/core/protocol";
import type { Principal } from "@loopwright/server";
import { describe, expect, it } from "vitest";
import { findOwnedSession, ownedSessionId } from "../src/identity/owned-session-id.ts";
import { keyedSessionId } from "../src/routes/idempotency/keyed-session-id.ts";
import { scriptedAgent, testServer } from "./test-server.ts";

const [anne, ben] = ["anne", "ben"].map((user): Principal => ({ user, scope: "garden" })) as [Principal, Principal];
const authenticate = (request: Request): Principal => (request.headers.get("authorization") === "ben" ? ben : anne);
const as = ({ user }: Principal) => ({ authorization: user });
const forbidden = { status: 403, code: "FORBIDDEN" };

describe.each([
  ["from the name of another user's session", () => ownedSessionId("thread", "anne", ["helper", "first"])],
  ["from another user's `Idempotency-Key`", () => keyedSessionId(anne, "k1")],
])("an id that follows %s", (_, idOf) => {
  it("begins no session: not by itself, not as a fork, not by an input", async () => {
    const { ask, refused } = testServer({ authenticate });
    const id = await idOf();
    await ask("/api/sessions", { json: { id: "own" }, headers: as(ben) });
    const headers = as(ben);
    expect(await refused("/api/sessions", { json: { id }, headers })).toMatchObject(forbidden);
    expect(await refused("/api/sessions", { json: { id }, headers: { ...headers, "Idempotency-Key": "k2" } })).toMatchObject(forbidden);
    expect(await refused("/api/sessions/own/fork", { json: { id }, headers })).toMatchObject(forbidden);
    expect(await refused("/api/agent/execute", { json: { input: "Hi", sessionId: id, context: {} }, headers })).toMatchObject(forbidden);
    expect((await ask(`/api/sessions/${id}`, { headers: as(anne) })).status).toBe(404);
  });
});

it("an id that follows from a user's own name or key begins a session of that user", async () => {
  const { ask, send } = testServer({ authenticate });
  const id = await ownedSessionId("thread", "anne", ["helper", "first"]);
  expect((await ask("/api/sessions", { json: { id }, headers: as(anne) })).status).toBe(201);
  const headers = { ...as(anne), "Idempotency-Key": "k1" };
  await (await send("/api/agent/execute", { json: { input: "Hi", agent: "helper" }, headers })).text();
  expect(await ask(`/api/sessions/${await keyedSessionId(anne, "k1")}`, { headers: as(anne) })).toMatchObject({
    status: 200,
    body: { participants: ["anne", "helper"] },
  });
});

it("execute continues no session that another user had opened under the id of a key before such ids were kept", async () => {
  const store = memoryStore();
  const agent = scriptedAgent();
  const { refused, ask } = testServer({ authenticate, store, agents: [agent] });
  const id = await keyedSessionId(anne, "k1");
  const session = createSession({ agent, store, id, access: ben });
  await session.open();
  const headers = { ...as(anne), "Idempotency-Key": "k1" };
  expect(await refused("/api/agent/execute", { json: { input: "A secret.", agent: "helper" }, headers })).toMatchObject(forbidden);
  expect((await ask<SessionSnapshot>(`/api/sessions/${id}`, { headers: as(ben) })).body.messages).toEqual([]);
});

describe("the session of a name", () => {
  const opened = (sessionId: string, user: string): SessionSnapshot => ({ sessionId, participants: [user, "helper"] }) as never;
  const absent = (): Promise<never> => Promise.reject(new AgentError("SESSION_NOT_FOUND", { message: "There is none." }));
  const name = { user: "anne", id: "now", earlierId: "earlier", label: "thread" };

  it("is the one of now, else that of an earlier version which the user had opened", async () => {
    const get = (there: Readonly<Record<string, string>>) => (id: string) =>
      there[id] === undefined ? absent() : Promise.resolve(opened(id, there[id]));
    expect((await findOwnedSession(get({ now: "anne", earlier: "anne" }), name))?.sessionId).toBe("now");
    expect((await findOwnedSession(get({ earlier: "anne" }), name))?.sessionId).toBe("earlier");
    expect(await findOwnedSession(get({ earlier: "ben" }), name)).toBeUndefined();
    expect(await findOwnedSession(get({}), name)).toBeUndefined();
    await expect(findOwnedSession(get({ now: "ben", earlier: "anne" }), name)).rejects.toMatchObject({ code: "FORBIDDEN" });
  });
});
