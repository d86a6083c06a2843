import { createClient } from "@loopwright/client";
import { memoryStore } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { accessPolicy } from "@loopwright/server";
import { describe, expect, it } from "vitest";
import { type AccessScene, accessScene, as, tokenOf, turn } from "./access-scene.ts";

const users = {
  anne: { scope: "garden" },
  ben: { scope: "garden" },
  vera: { scope: "garden", roles: ["viewer"] },
  ada: { scope: "garden", roles: ["admin"] },
  carl: { scope: "kitchen", roles: ["admin"] },
} as const;

async function garden(more: Parameters<typeof accessPolicy>[0] | object = {}): Promise<AccessScene & { readonly store: SessionStore }> {
  const store = memoryStore();
  const scene = accessScene(users, { store, ...accessPolicy({ store, ...more }) });
  await scene.send("/api/sessions", { json: { id: "roses", title: "Roses" }, headers: as("anne") });
  return { ...scene, store };
}

const share = ({ ask }: AccessScene, user: string, sharing: object): Promise<{ status: number }> =>
  ask("/api/sessions/roses/sharing", { method: "PUT", json: sharing, headers: as(user) });

/** The statuses of a reading, a writing, a removal and a hold. */
async function rightsOf({ send }: AccessScene, user: string): Promise<readonly number[]> {
  const headers = as(user);
  const answers = [
    await send("/api/sessions/roses", { headers }),
    await send("/api/sessions/roses", { method: "PATCH", json: { title: "Roses" }, headers }),
    await send("/api/sessions/roses/sharing", { method: "PUT", json: {}, headers }),
    await send("/api/sessions/roses/hold", { method: "DELETE", headers }),
  ];
  return answers.map(({ status }) => status);
}

describe("the ready policy", () => {
  it("gives a session to the user that opened it and to admins of its scope; to all others it does not exist", async () => {
    const scene = await garden();
    expect(await rightsOf(scene, "anne")).toEqual([200, 200, 200, 403]);
    expect(await rightsOf(scene, "ada")).toEqual([200, 200, 200, 200]);
    for (const user of ["ben", "vera", "carl"]) expect(await rightsOf(scene, user)).toEqual([404, 404, 404, 404]);
  });

  it("gives others what the session is shared for, and takes it back", async () => {
    const scene = await garden();
    const steps: readonly (readonly [object, ben: readonly number[], vera: readonly number[]])[] = [
      [{ users: { ben: "viewer", vera: "owner" } }, [200, 403, 403, 403], [200, 403, 403, 403]],
      [{ users: { ben: "member" } }, [200, 200, 403, 403], [404, 404, 404, 404]],
      [{ scope: "viewer" }, [200, 403, 403, 403], [200, 403, 403, 403]],
      [{ scope: "viewer", users: { ben: "member" } }, [200, 200, 403, 403], [200, 403, 403, 403]],
      [{}, [404, 404, 404, 404], [404, 404, 404, 404]],
      [{ users: { ben: "owner" } }, [200, 200, 200, 404], [404, 404, 404, 404]],
    ];
    for (const [sharing, ben, vera] of steps) {
      expect((await share(scene, "anne", sharing)).status).toBe(200);
      expect(await rightsOf(scene, "vera"), JSON.stringify(sharing)).toEqual(vera);
      expect(await rightsOf(scene, "ben"), JSON.stringify(sharing)).toEqual(ben);
    }
  });

  it("lets no member say when the session is erased", async () => {
    const scene = await garden();
    await share(scene, "anne", { users: { ben: "member" } });
    const keep = (user: string) =>
      scene.send("/api/sessions/roses", { method: "PATCH", json: { retention: { keepMs: 86_400_000 } }, headers: as(user) });
    expect((await keep("ben")).status).toBe(403);
    expect((await keep("anne")).status).toBe(200);
  });

  it("applies the default to sessions that were never shared", async () => {
    const scene = await garden({ unshared: { scope: "member" } });
    const { status } = await scene.send("/api/sessions/roses", { method: "PATCH", json: { title: "Ours" }, headers: as("ben") });
    expect(status).toBe(200);
    expect((await scene.send("/api/sessions/roses", { headers: as("carl") })).status).toBe(404);
    expect((await share(scene, "anne", {})).status).toBe(200);
    expect((await scene.send("/api/sessions/roses", { headers: as("ben") })).status).toBe(404);
  });

  it("answers a viewer about a hidden session byte for byte as about none, whatever is asked", async () => {
    const { send } = await garden();
    const asked: readonly (readonly [(id: string) => string, object])[] = [
      [(id) => `/api/sessions/${id}`, {}],
      [(id) => `/api/sessions/${id}`, { method: "DELETE" }],
      [(id) => `/api/sessions/${id}/messages`, { json: { input: "Hi" } }],
      [(id) => `/api/sessions/${id}/events`, {}],
      [(id) => `/api/sessions/${id}/abort`, { method: "POST" }],
      [(id) => `/api/sessions/${id}/sharing`, { method: "PUT", json: {} }],
      [(id) => `/api/notifications?session=${id}`, {}],
      [(id) => `/api/sessions?parent=${id}`, {}],
    ];
    for (const user of ["vera", "ben"])
      for (const [path, sent] of asked) {
        const seen = async (id: string): Promise<unknown> => {
          const response = await send(path(id), { ...sent, headers: as(user) });
          const names = [...response.headers].filter(([name]) => name !== "x-request-id" && name !== "content-length");
          return [response.status, names, (await response.text()).replaceAll(id, "none0")];
        };
        expect(await seen("roses"), `${user} ${path("x")}`).toEqual(await seen("none0"));
      }
  });

  it("lists, finds and announces only what the caller may see", async () => {
    const scene = await garden();
    const { ask, send } = scene;
    await send("/api/sessions", { json: { id: "bens", title: "Roses of Ben" }, headers: as("ben") });
    const seen = async (user: string): Promise<unknown> => {
      const { body: list } = await ask<{ sessions: { id: string }[] }>("/api/sessions", { headers: as(user) });
      const { body: found } = await ask<{ hits: { session: { id: string } }[] }>("/api/sessions?search=roses", { headers: as(user) });
      return [list.sessions.map(({ id }) => id).sort(), found.hits.map(({ session }) => session.id).sort()];
    };
    expect(await seen("ben")).toEqual([["bens"], ["bens"]]);
    expect(await seen("ada")).toEqual([
      ["bens", "roses"],
      ["bens", "roses"],
    ]);
    const stream = await send("/api/notifications", { headers: as("ben") });
    const reader = (stream.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    await send("/api/sessions/roses", { method: "PATCH", json: { title: "Hidden" }, headers: as("anne") });
    await turn();
    await send("/api/sessions/bens", { method: "PATCH", json: { title: "Mine" }, headers: as("ben") });
    let text = "";
    while (!text.includes('"bens"')) text += (await reader.read()).value ?? "";
    expect(text).not.toContain("roses");
    await share(scene, "anne", { users: { ben: "viewer" } });
    await scene.clock.advance(5_000);
    await send("/api/sessions/roses", { method: "PATCH", json: { title: "Shown" }, headers: as("anne") });
    while (!text.includes('"roses"')) text += (await reader.read()).value ?? "";
    await reader.cancel();
  });

  it("pages through many sessions of others with bounded reads, and each page has a next one until the end", async () => {
    const { ask, send } = await garden();
    await send("/api/sessions", { json: { id: "bens" }, headers: as("ben") });
    for (let at = 0; at < 60; at++) await send("/api/sessions", { json: { id: `annes-${at}` }, headers: as("ada") });
    const { body } = await ask<{ sessions: { id: string }[]; next?: string }>("/api/sessions?limit=1", { headers: as("ben") });
    expect(body.sessions.map(({ id }) => id)).toEqual(["bens"]);
    const { body: rest } = await ask(`/api/sessions?before=${body.next}`, { headers: as("ben") });
    expect(rest).toEqual({ sessions: [] });
  });

  it("filters lists beside what the caller may see", async () => {
    const { ask, send } = await garden();
    for (const id of ["bens", "bens-too"]) await send("/api/sessions", { json: { id, title: "Roses" }, headers: as("ben") });
    const idsOf = async (query: string, user: string): Promise<readonly string[]> =>
      (await ask<{ sessions: { id: string }[] }>(`/api/sessions?${query}`, { headers: as(user) })).body.sessions.map(({ id }) => id).sort();
    expect(await idsOf("participant=anne", "ben")).toEqual([]);
    expect(await idsOf("participant=ben&status=idle", "ben")).toEqual(["bens", "bens-too"]);
    expect(await idsOf("participant=ben&limit=1", "ada")).toHaveLength(1);
    expect(await idsOf("agent=helper", "anne")).toEqual(["roses"]);
  });

  it("has shares in the log: another server over the store follows them, and bad ones are refused", async () => {
    const scene = await garden();
    const { refused } = scene;
    for (const sharing of [{ scope: "owner" }, { users: { ben: "king" } }, { users: { "": "viewer" } }, { all: true }, []])
      expect(await refused("/api/sessions/roses/sharing", { method: "PUT", json: sharing, headers: as("anne") })).toMatchObject({
        status: 400,
      });
    const client = createClient({ url: "http://localhost", token: tokenOf("anne"), fetch: (request) => scene.server.fetch(request) });
    const shared = await client.sessions.share("roses", { users: { ben: "member" } });
    expect(shared.sharing).toEqual({ users: { ben: "member" } });
    const other = accessScene(users, { store: scene.store, clock: scene.clock, ...accessPolicy({ store: scene.store }) });
    expect((await other.send("/api/sessions/roses", { headers: as("ben") })).status).toBe(200);
  });

  it("is not misled by users with names of the language, nor by roles that it does not know", async () => {
    const store = memoryStore();
    const odd = { ["__proto__"]: { scope: "garden" }, constructor: { scope: "garden", roles: ["toString", "owner"] } };
    const scene = accessScene(
      { ...users, ...odd, constructor: { scope: "garden", roles: ["owner"] } },
      { store, ...accessPolicy({ store }) },
    );
    await scene.send("/api/sessions", { json: { id: "roses" }, headers: as("anne") });
    expect((await scene.send("/api/sessions/roses", { headers: as("constructor") })).status).toBe(404);
    for (const path of ["/metrics", "/version"]) expect((await scene.send(path, { headers: as("constructor") })).status).toBe(403);
  });
});
