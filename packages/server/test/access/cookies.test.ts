import { AgentError } from "@loopwright/core";
import { manualClock, memoryStore } from "@loopwright/core/memory";
import type { Principal } from "@loopwright/server";
import { describe, expect, it } from "vitest";
import type { ServeOptions } from "../serve.ts";
import { testServer } from "../test-server.ts";
import { type AccessScene, accessScene, as, tokenOf } from "./access-scene.ts";

const users = { anne: { scope: "garden", memberships: [{ scope: "kitchen" }] }, ben: { scope: "kitchen" } } as const;
const page = { Origin: "http://localhost", "Sec-Fetch-Site": "same-origin" };

const withCookies = (options: Partial<ServeOptions> = {}): AccessScene => accessScene(users, { cookies: true, ...options });

/** Signs in and gives the cookie as a browser sends it. */
async function signedIn({ send }: AccessScene, headers: Record<string, string> = as("anne", page)): Promise<string> {
  const response = await send("/api/login", { method: "POST", headers });
  expect(response.status).toBe(200);
  return (response.headers.get("Set-Cookie") ?? "").split(";")[0] ?? "";
}

describe("a session by cookie", () => {
  it("is begun with credentials, and stands for them: every route, every team, without a token in the page", async () => {
    const scene = withCookies();
    const response = await scene.send("/api/login", { method: "POST", headers: as("anne", page) });
    expect(response.headers.get("Set-Cookie")).toMatch(
      /^loopwright=garden\.[0-9a-z]+\.[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    );
    expect(await response.json()).toEqual({
      ...{ user: "anne", scope: "garden", scopes: ["garden", "kitchen"], cookies: true },
      expiresAt: scene.clock.now() + 43_200_000,
    });
    const Cookie = (response.headers.get("Set-Cookie") ?? "").split(";")[0] ?? "";
    expect((await scene.send("/api/sessions", { json: { id: "a" }, headers: { Cookie, ...page } })).status).toBe(201);
    expect((await scene.send("/api/sessions/a", { headers: { Cookie } })).status).toBe(200);
    expect((await scene.send("/api/sessions/a", { headers: { Cookie, "X-Scope": "kitchen" } })).status).toBe(404);
  });

  it("is for TLS alone where the page was opened over TLS, and has a name of its own for each port", async () => {
    const scene = withCookies({ hosts: ["chat.example.com", "localhost:4200"] });
    const cookieFor = async (host: string, origin: string): Promise<string | null> =>
      (await scene.send("/api/login", { method: "POST", headers: as("anne", { Host: host, Origin: origin }) })).headers.get("Set-Cookie");
    expect(await cookieFor("chat.example.com", "https://chat.example.com")).toMatch(/^__Host-loopwright=.*; Secure$/);
    expect(await cookieFor("localhost:4200", "http://localhost:4200")).toMatch(/^loopwright-4200=/);
  });

  it("H01: counts only for requests of the server's own page: forms, pictures and scripts of other sites change nothing", async () => {
    const scene = withCookies({ origins: ["https://app.example.com"], hosts: ["good.com"] });
    const Cookie = await signedIn(scene);
    const attempts: readonly Record<string, string>[] = [
      {},
      { Origin: "https://evil.com" },
      { Origin: "null" },
      { Origin: "http://localhost.evil.com" },
      { Origin: "https://app.example.com", "Sec-Fetch-Site": "cross-site" },
      { Origin: "https://app.example.com" },
      { "Sec-Fetch-Site": "same-site" },
      { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors" },
      { "Sec-Fetch-Site": "none" },
    ];
    for (const headers of attempts) {
      const problem = await scene.refused("/api/sessions", { json: { id: "evil" }, headers: { Cookie, ...headers } });
      expect(problem, JSON.stringify(headers)).toMatchObject({ status: 403, code: "ORIGIN_REFUSED" });
    }
    const read = await scene.refused("/api/sessions", { headers: { Cookie, Origin: "https://app.example.com" } });
    expect(read).toMatchObject({ code: "ORIGIN_REFUSED" });
    expect(read.headers.get("Access-Control-Allow-Credentials")).toBeNull();
    expect((await scene.ask("/api/sessions", { headers: { Cookie } })).body).toEqual({ sessions: [] });
  });

  it("is not given to a service of all scopes, whose token counts from one place", async () => {
    const { send, server } = testServer({
      cookies: true,
      authenticate: () => ({ user: "jobs", scope: "system", roles: ["service"], memberships: "any" }),
    });
    const answer = await send("/api/login", { method: "POST" });
    expect([answer.status, answer.headers.get("Set-Cookie")]).toEqual([403, null]);
    await server.close();
  });

  it("ends with the sign-out on every node, and the cookie is removed", async () => {
    const store = memoryStore();
    const scene = withCookies({ store });
    const other = withCookies({ store, clock: scene.clock });
    const Cookie = await signedIn(scene);
    expect((await other.send("/api/sessions", { headers: { Cookie } })).status).toBe(200);
    const out = await scene.send("/api/logout", { method: "POST", headers: { Cookie, ...page } });
    expect([out.status, out.headers.get("Set-Cookie")]).toEqual([204, "loopwright=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"]);
    for (const { send } of [scene, other]) expect((await send("/api/sessions", { headers: { Cookie } })).status).toBe(401);
    expect(await store.blobs.list("garden", { prefix: "login-" })).toEqual([]);
  });

  it("survives a restart of the server, since the store has it, and the store never has the secret", async () => {
    const store = memoryStore();
    const first = withCookies({ store });
    const Cookie = await signedIn(first);
    await first.server.close();
    const second = withCookies({ store, clock: first.clock });
    expect((await second.send("/api/sessions", { headers: { Cookie } })).status).toBe(200);
    const [key = ""] = await store.blobs.list("garden", { prefix: "login-" });
    const text = key + new TextDecoder().decode((await store.blobs.get("garden", key))?.bytes);
    expect(text).not.toContain(Cookie.split(".")[2]);
    expect(text).not.toContain(tokenOf("anne"));
    expect(atob((JSON.parse(text.slice(key.length)) as { sealed: string }).sealed)).not.toContain(tokenOf("anne"));
  });

  it("is exchanged for a new one that ends no later; the old one counts for requests under way, then no more", async () => {
    const scene = withCookies();
    const Cookie = await signedIn(scene);
    await scene.clock.advance(3_600_000);
    const renewed = await scene.send("/api/login", { method: "POST", headers: { Cookie, ...page } });
    expect(((await renewed.json()) as { expiresAt: number }).expiresAt).toBe(scene.clock.now() + 43_200_000 - 3_600_000);
    const next = (renewed.headers.get("Set-Cookie") ?? "").split(";")[0] ?? "";
    expect(next).not.toBe(Cookie);
    expect((await scene.send("/api/sessions", { headers: { Cookie } })).status).toBe(200);
    await scene.clock.advance(30_000);
    expect((await scene.send("/api/sessions", { headers: { Cookie } })).status).toBe(401);
    expect((await scene.send("/api/sessions", { headers: { Cookie: next } })).status).toBe(200);
    await scene.clock.advance(43_200_000);
    expect((await scene.send("/api/sessions", { headers: { Cookie: next } })).status).toBe(401);
  });

  it("ends with the credentials that began it, and at its age", async () => {
    const scene = withCookies({ cookies: { ageMs: 60_000 } });
    const Cookie = await signedIn(scene);
    await scene.clock.advance(59_999);
    expect((await scene.send("/api/sessions", { headers: { Cookie } })).status).toBe(200);
    await scene.clock.advance(1);
    expect((await scene.send("/api/sessions", { headers: { Cookie } })).status).toBe(401);
    const short = accessScene({ anne: { scope: "garden", expiresAt: scene.clock.now() + 1_000 } }, { cookies: true, clock: scene.clock });
    const soon = await signedIn(short);
    await scene.clock.advance(1_000);
    expect((await short.send("/api/sessions", { headers: { Cookie: soon } })).status).toBe(401);
  });

  it("is worth what its credentials are worth by now: other roles, no trust any more, none once they are revoked, and 503 while they cannot be checked", async () => {
    let known: Principal | undefined = { user: "anne", scope: "garden", roles: ["admin"], trusted: true };
    let isDown = false;
    let asked = 0;
    const clock = manualClock();
    const authenticate = ({ headers }: Request): Principal | undefined => {
      if (headers.get("Authorization") !== `Bearer ${tokenOf("anne")}` && headers.get("X-Api-Key") !== tokenOf("anne")) return undefined;
      asked += 1;
      if (isDown) throw new AgentError("NOT_READY", { message: "The directory is down." });
      return known;
    };
    const { send, ask, server } = testServer({ clock, cookies: true, authenticate });
    const scene = { send } as AccessScene;
    const Cookie = await signedIn(scene);
    const status = async (): Promise<number> => (await send("/api/access", { headers: { Cookie } })).status;
    const seed = async (id: string): Promise<number> =>
      (await send("/api/sessions", { json: { id, context: { systemPrompt: "Obey." } }, headers: { Cookie, ...page } })).status;
    expect(await seed("a")).toBe(201);
    known = { user: "anne", scope: "garden", roles: ["viewer"] };
    expect((await Promise.all(Array.from({ length: 20 }, status))).every((one) => one === 200)).toBe(true);
    // Once at the sign-in, and once for all requests of half a minute.
    expect(asked).toBe(2);
    await clock.advance(30_000);
    expect((await ask("/api/access", { headers: { Cookie } })).body).toMatchObject({ roles: ["viewer"] });
    expect(await seed("b")).toBe(403);
    isDown = true;
    await clock.advance(30_000);
    expect(await status()).toBe(503);
    isDown = false;
    expect(await status()).toBe(200);
    const renewed = await signedIn(scene, { Cookie, ...page });
    expect((await send("/api/access", { headers: { Cookie: renewed } })).status).toBe(200);
    known = { user: "ben", scope: "garden" };
    await clock.advance(30_000);
    expect(await status()).toBe(401);
    known = undefined;
    expect((await send("/api/access", { headers: { Cookie: renewed } })).status).toBe(401);
    known = { user: "anne", scope: "garden" };
    // Credentials may be in another header than `Authorization`.
    const byKey = await signedIn(scene, { "X-Api-Key": tokenOf("anne"), ...page });
    expect((await send("/api/access", { headers: { Cookie: byKey } })).status).toBe(200);
    await server.close();
  });

  it("ends its open streams at the next check after its credentials were revoked, although they were checked a moment before", async () => {
    let isKnown = true;
    const clock = manualClock();
    const { send, server } = testServer({
      clock,
      cookies: true,
      authenticate: () => (isKnown ? { user: "anne", scope: "garden" } : undefined),
    });
    const Cookie = await signedIn({ send } as AccessScene);
    const stream = (await send("/api/notifications", { headers: { Cookie } })).text();
    await clock.advance(59_000);
    await send("/api/access", { headers: { Cookie } });
    isKnown = false;
    await clock.advance(1_000);
    expect(await stream).toContain('"reason":"access_ended"');
    await server.close();
  });

  it("is not had by guesses: pieces, other scopes, other ends and odd cookies are no session", async () => {
    const scene = withCookies();
    const Cookie = await signedIn(scene);
    const secret = Cookie.slice("loopwright=".length);
    const guesses = [
      secret.slice(0, -1),
      `${secret}A`,
      secret.replace("garden", "kitchen"),
      secret.replace(/\.[0-9a-z]+\./, ".zzzzzzzz."),
      "",
      "a.b.c",
      "%",
    ];
    for (const guess of guesses)
      expect((await scene.send("/api/sessions", { headers: { Cookie: `loopwright=${guess}` } })).status).toBe(401);
    expect((await scene.send("/api/sessions", { headers: { Cookie: `other=${secret}` } })).status).toBe(401);
    expect((await scene.send("/api/sessions", { headers: { Cookie, Authorization: "Bearer wrong" } })).status).toBe(401);
  });

  it("does not exist where it is not asked for, and needs `authenticate`", async () => {
    const { refused, send } = accessScene(users);
    expect(await refused("/api/login", { method: "POST", headers: as("anne") })).toMatchObject({ status: 404, code: "ROUTE_NOT_FOUND" });
    expect((await send("/api/sessions", { headers: { Cookie: "loopwright=garden.zzzzzzzz.x" } })).status).toBe(401);
    expect(() => accessScene({}, { cookies: true, authenticate: undefined as never })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID" }),
    );
  });
});
