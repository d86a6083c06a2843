import { describe, expect, it } from "vitest";
import { scriptedAgent, testServer } from "../../test/test-server.ts";

const page = async (path: string) =>
  path === "" || path === "assets/app-B1aZne9g.js"
    ? {
        bytes: new TextEncoder().encode(`<${path}>`),
        mediaType: path === "" ? "text/html; charset=utf-8" : "text/javascript",
        immutable: path !== "",
      }
    : undefined;

describe("the door", () => {
  it("answers requests that name loopback, whatever the port", async () => {
    const { server } = testServer();
    for (const url of [
      "http://localhost/healthz",
      "http://127.0.0.1:8080/healthz",
      "http://[::1]:4200/healthz",
      "http://chat.localhost:1/healthz",
    ])
      expect((await server.fetch(new Request(url))).status).toBe(200);
  });

  it("refuses a request that names another host, in the address or in the header", async () => {
    const { server, refused } = testServer({ hosts: ["chat.example.com", "chat.example.com:8443"] });
    const answer = await server.fetch(new Request("http://evil.com/healthz"));
    expect(answer.status).toBe(421);
    expect(await answer.json()).toMatchObject({ code: "HOST_REFUSED" });
    for (const host of ["evil.com", "localhost.evil.com", "127.0.0.1.nip.io", "chat.example.com:9000", ""])
      expect(await refused("/healthz", { headers: { Host: host } })).toMatchObject({ status: 421, code: "HOST_REFUSED" });
    for (const host of ["chat.example.com", "CHAT.example.com:443", "chat.example.com:8443"])
      expect((await server.fetch(new Request("https://chat.example.com/healthz", { headers: { Host: host } }))).status).toBe(200);
  });

  it("answers for the address that the adapter has the connection at", async () => {
    const { server } = testServer();
    const request = new Request("http://192.168.7.9:4200/healthz");
    expect((await server.fetch(request.clone())).status).toBe(421);
    expect((await server.fetch(request, { localHost: "192.168.7.9:4200" })).status).toBe(200);
  });

  it("refuses pages of other origins, also for reading, and sends them no CORS headers", async () => {
    const { refused } = testServer({ origins: ["https://good.com"] });
    for (const origin of ["https://evil.com", "null", "https://good.com.evil.com", "http://good.com", "http://localhost:5173"]) {
      const problem = await refused("/api/agents", { headers: { Origin: origin } });
      expect(problem).toMatchObject({ status: 403, code: "ORIGIN_REFUSED" });
      expect(problem.headers.has("Access-Control-Allow-Origin")).toBe(false);
    }
    const preflight = await refused("/api/sessions", {
      method: "OPTIONS",
      headers: { Origin: "https://evil.com", "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-odd" },
    });
    expect(preflight).toMatchObject({ code: "ORIGIN_REFUSED" });
    expect(preflight.headers.has("Access-Control-Allow-Origin")).toBe(false);
  });

  it("refuses what a browser calls cross-site, even without an origin, but for a link that is followed", async () => {
    const { refused, send } = testServer();
    const headers = { "Sec-Fetch-Site": "cross-site" };
    expect(await refused("/api/sessions", { json: {}, headers })).toMatchObject({ status: 403, code: "ORIGIN_REFUSED" });
    expect(await refused("/api/agents", { headers })).toMatchObject({ status: 403 });
    const link = { ...headers, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" };
    expect((await send("/api/agents", { headers: link })).status).toBe(200);
  });

  it("lets the page of its own host and pages of `origins` in", async () => {
    const { send } = testServer({ origins: ["https://good.com"] });
    expect((await send("/api/sessions", { json: {}, headers: { Origin: "http://localhost" } })).status).toBe(201);
    const preflight = await send("/api/sessions", {
      method: "OPTIONS",
      headers: { Origin: "https://good.com", "Access-Control-Request-Method": "POST" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("Access-Control-Allow-Origin")).toBe("https://good.com");
    expect(preflight.headers.get("Access-Control-Allow-Headers")).toContain("Idempotency-Key");
    const answer = await send("/api/sessions", { json: {}, headers: { Origin: "https://good.com", "Sec-Fetch-Site": "cross-site" } });
    expect(answer.status).toBe(201);
    expect(answer.headers.get("Access-Control-Allow-Origin")).toBe("https://good.com");
    expect(answer.headers.get("Access-Control-Expose-Headers")).toContain("X-Session-Id");
    expect(answer.headers.get("Access-Control-Allow-Credentials")).toBeNull();
    expect(answer.headers.get("Vary")).toContain("Origin");
  });

  it("puts security headers and a request id on every answer, and never names the platform", async () => {
    const { send } = testServer({ page });
    const stream = { json: { context: {}, input: "Hi" } };
    const answers = [await send("/healthz"), await send("/nope"), await send("/"), await send("/api/agent/execute", stream)];
    for (const { headers } of answers) {
      expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
      expect(headers.get("Referrer-Policy")).toBe("no-referrer");
      expect(headers.get("X-Frame-Options")).toBe("DENY");
      expect(headers.get("Content-Security-Policy")).toContain("default-src 'none'");
      expect(headers.get("X-Request-Id")).toMatch(/^[0-9a-v]{26}$/);
      expect(headers.has("X-Powered-By")).toBe(false);
      expect(headers.has("Server")).toBe(false);
    }
  });

  it("takes over a request id that can be one", async () => {
    const { send } = testServer();
    expect((await send("/healthz", { headers: { "X-Request-Id": "trace-1.a" } })).headers.get("X-Request-Id")).toBe("trace-1.a");
    expect((await send("/healthz", { headers: { "X-Request-Id": "a b<script>" } })).headers.get("X-Request-Id")).toMatch(/^[0-9a-v]{26}$/);
  });

  it("answers an unknown path with 404 and a wrong method with 405 and the right ones", async () => {
    const { refused } = testServer();
    for (const path of ["/debug", "/nope", "/api", "/api/nope", "/api/sessions/a/b/c", "/.env", "/server.js.map"])
      expect(await refused(path)).toMatchObject({ status: 404, code: "ROUTE_NOT_FOUND" });
    const problem = await refused("/api/sessions/a", { method: "PUT", json: {} });
    expect(problem).toMatchObject({ status: 405, code: "METHOD_NOT_ALLOWED" });
    expect(problem.headers.get("Allow")).toBe("GET, HEAD, PATCH, DELETE");
  });

  it("answers HEAD like GET without a body, and refuses it for a stream", async () => {
    const { send } = testServer();
    const head = await send("/api/agents", { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe("");
    expect((await send("/api/notifications", { method: "HEAD" })).status).toBe(405);
  });

  it("keeps all routes below the base path", async () => {
    const { send, refused, ask } = testServer({ basePath: "/agents", page });
    expect((await send("/agents/healthz")).status).toBe(200);
    expect(await refused("/healthz")).toMatchObject({ status: 404 });
    expect(await refused("/agentsx/healthz")).toMatchObject({ status: 404 });
    const created = await ask("/agents/api/sessions", { json: { id: "a" } });
    expect(created.headers.get("Location")).toBe("/agents/api/sessions/a");
    const slashless = await send("/agents");
    expect([slashless.status, slashless.headers.get("Location")]).toEqual([308, "/agents/"]);
    expect(await (await send("/agents/")).text()).toBe("<>");
    expect((await refused("/agents/api/sessions", { method: "PUT" })).headers.get("Allow")).toBe("POST, GET, HEAD");
  });

  it("serves the page under a strict policy, its start for every place, and nothing for missing files", async () => {
    const { send, refused } = testServer({ page });
    const start = await send("/");
    expect(start.headers.get("Content-Security-Policy")).toContain("script-src 'self'");
    expect(start.headers.get("Content-Security-Policy")).not.toContain("unsafe");
    expect(start.headers.get("Cache-Control")).toBe("no-cache");
    expect(await (await send("/sessions/abc", { headers: { Accept: "text/html,*/*;q=0.8" } })).text()).toBe("<>");
    expect((await send("/assets/app-B1aZne9g.js")).headers.get("Cache-Control")).toContain("immutable");
    for (const path of ["/missing.js", "/a%2f..%2f..%2fetc", "/%5c..%5cx", "/a%00", "/%zz", "/%2fetc/passwd"])
      expect(await refused(path)).toMatchObject({ status: 404 });
    expect(await refused("/", { method: "POST", body: "x" })).toMatchObject({ status: 404 });
  });

  it("answers a bug with INTERNAL alone, and logs its place", async () => {
    const { refused, logged } = testServer({
      async page() {
        throw new TypeError("secret-token at somewhere");
      },
    });
    const problem = await refused("/", { headers: { Accept: "text/html" } });
    expect(problem).toMatchObject({ status: 500, code: "INTERNAL", detail: "Unexpected TypeError." });
    expect(JSON.stringify(problem)).not.toMatch(/secret|somewhere|\bat\b .*:\d/);
    expect(logged).toHaveLength(1);
    expect(logged[0]).toMatchObject({ level: "error", fields: { route: "other", stack: expect.stringContaining("page") } });
    expect(JSON.stringify(logged)).not.toContain("secret-token");
  });

  it("takes no new work once it drains, and lets what runs be answered and stopped", async () => {
    const { server, refused, send } = testServer({ agents: [scriptedAgent([{ text: "Hm", hang: true }])] });
    await send("/api/sessions", { json: { id: "a" } });
    server.drain();
    expect(server.ready()).toBe(false);
    const problem = await refused("/api/sessions/a/messages", { json: { input: "Hi" } });
    expect(problem).toMatchObject({ status: 503, code: "NOT_READY", retryable: true });
    expect(problem.headers.get("Retry-After")).toBe("2");
    expect(await refused("/readyz")).toMatchObject({ status: 503 });
    expect((await send("/healthz")).status).toBe(200);
    expect((await send("/api/sessions/a")).status).toBe(200);
    expect((await send("/api/sessions/a/abort", { method: "POST" })).status).toBe(202);
    await server.close();
    await server.close();
    expect(await refused("/api/sessions/a")).toMatchObject({ status: 503, code: "NOT_READY" });
  });
});

describe("the options of a server", () => {
  it("are refused where they cannot work", () => {
    const agents = [scriptedAgent()];
    const wrong = [
      { agents: [] },
      { agents: [...agents, ...agents] },
      { basePath: "/agents/" },
      { basePath: "agents" },
      { origins: ["https://good.com/"] },
      { origins: ["good.com"] },
      { limits: { bodyBytes: 0 } },
    ];
    for (const options of wrong) expect(() => testServer(options)).toThrowError(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });
});
