import { defaultServerLimits } from "@loopwright/server";
import { describe, expect, it } from "vitest";
import { testServer } from "../test-server.ts";
import { payloadScene, problemIn } from "./payload-scene.ts";
import { rawExchange, requestText } from "./raw-exchange.ts";

/** As many people as are named, each in the scope that stands before the dot. */
const named = (request: Request) => {
  const [scope = "", user = ""] = (request.headers.get("X-User") ?? "").split(".");
  return { user, scope };
};

const open = (user: string) => ({ headers: { "X-User": user } });

describe("H07: idle streams", () => {
  it("are by default 50 of a person, 500 of a scope and 5,000 of a server", () => {
    const { streamsPerPrincipal, streamsPerScope, streams } = defaultServerLimits;
    expect([streamsPerPrincipal, streamsPerScope, streams]).toEqual([50, 500, 5_000]);
  });

  it("of one token are 50 however many are asked for, and the refusals of others name the wait", async () => {
    const { send, server } = testServer({ authenticate: named, limits: { requestsPerMinute: 20_000 } });
    const statuses = new Map<number, number>();
    for (let count = 0; count < 10_000; count += 1) {
      const response = await send("/api/notifications", open("garden.anne"));
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      if (response.status === 503 && count % 1_000 === 0) {
        expect(response.headers.get("Retry-After")).toBe("10");
        expect(await response.json()).toMatchObject({
          code: "CONNECTION_LIMIT",
          retryable: true,
          fix: expect.stringContaining("notifications"),
        });
      }
    }
    expect(Object.fromEntries(statuses)).toEqual({ 200: 50, 503: 9_950 });
    expect((await send("/api/notifications", open("garden.ben"))).status).toBe(200);
    await server.close();
  });

  it("of one token are counted by the minute as well: a caller that keeps asking is refused sooner", async () => {
    const { send, server } = testServer({ authenticate: named });
    const statuses: number[] = [];
    for (let count = 0; count < 1_000; count += 1) statuses.push((await send("/api/notifications", open("garden.anne"))).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(50);
    expect(statuses).toContain(429);
    await server.close();
  });

  it("of one scope are 500, and of one server 5,000, of whatever kind and session", async () => {
    const { send, ask, server } = testServer({ authenticate: named });
    const add = async (user: string, path: string): Promise<number> => (await send(path, open(user))).status;
    for (let scope = 0; scope < 10; scope += 1) {
      await ask("/api/sessions", { json: { id: "a" }, ...open(`s${scope}.u0`) });
      for (let user = 0; user < 10; user += 1)
        for (let count = 0; count < 50; count += 1) {
          const status = await add(`s${scope}.u${user}`, count % 10 === 0 ? "/api/sessions/a/events?from=now" : "/api/notifications");
          if (status !== 200) throw new Error(`Stream ${scope}.${user}.${count} was answered with ${status}.`);
        }
      expect(await add(`s${scope}.more`, "/api/notifications")).toBe(503);
    }
    expect(await add("s10.u0", "/api/notifications")).toBe(503);
    const metrics = await (await send("/metrics", open("s10.u0"))).text();
    expect(metrics).toContain("loopwright_sse_clients 5000");
    await server.close();
    expect(metrics).toContain("loopwright_sessions_loaded 10");
  });

  it("over sockets are cut off at the same number, and a place is free again once its reader has gone", async () => {
    const { port } = await payloadScene({ limits: { streamsPerPrincipal: 5 } });
    const bytes = requestText("GET /api/notifications");
    const ends: (() => void)[] = [];
    const opened = Array.from(
      { length: 5 },
      () =>
        new Promise<void>((resolve) => {
          void rawExchange({
            port,
            bytes,
            meanwhile: (socket) => {
              ends.push(() => socket.destroy());
              socket.once("data", () => resolve());
            },
          });
        }),
    );
    await Promise.all(opened);
    const refused = await rawExchange({ port, bytes });
    expect(refused).toMatch(/^retry-after: 10$/im);
    expect(problemIn(refused)).toMatchObject({ status: 503, code: "CONNECTION_LIMIT" });
    ends[0]?.();
    const again = () => rawExchange({ port, bytes, meanwhile: (socket) => void socket.once("data", () => socket.end()) });
    await expect.poll(again).toMatch(/^HTTP\/1\.1 200 /);
    for (const end of ends) end();
  });

  it("that are refused hold neither the session nor an input", async () => {
    const { ask, send, refused, store, writes } = await payloadScene({ limits: { streamsPerPrincipal: 1 } });
    await ask("/api/sessions", { json: { id: "a" } });
    const first = await send("/api/sessions/a/events?from=now");
    const before = writes.length;
    expect(await refused("/api/agent/execute", { json: { sessionId: "a", input: "Hi" } })).toMatchObject({ code: "CONNECTION_LIMIT" });
    expect(await refused("/api/agent/execute", { json: { sessionId: "b", context: {}, input: "Hi" } })).toMatchObject({ status: 503 });
    expect(await refused("/api/sessions/a/events")).toMatchObject({ status: 503 });
    expect(writes.slice(before).filter((write) => write.includes("input.accepted"))).toEqual([]);
    expect((await store.index.list("local")).map(({ id }) => id)).toEqual(["a"]);
    await first.body?.cancel();
  });
});
