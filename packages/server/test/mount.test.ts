import { once } from "node:events";
import { createServer as createHttpServer, request as httpRequest, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { getRequestListener } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { memoryStore, silentLogger } from "@loopwright/core/memory";
import { type AgentServer, bearerTokens } from "@loopwright/server";
import { requestListener } from "@loopwright/server/node";
import { Hono } from "hono";
import { afterEach, describe, expect, it } from "vitest";
import { type ServeOptions, serve } from "./serve.ts";
import { scriptedAgent } from "./test-server.ts";

/** An address of this machine that other machines can use; absent without a network. */
const outside = Object.values(networkInterfaces())
  .flat()
  .find((entry) => entry?.family === "IPv4" && !entry.internal)?.address;

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function agentServer(options: Partial<ServeOptions> = {}): AgentServer {
  const server = serve({ agents: [scriptedAgent()], store: memoryStore(), logger: silentLogger, basePath: "/agents", ...options });
  ends.push(() => server.close());
  return server;
}

/** A process of the application: it listens on all interfaces. */
async function serveOnAllInterfaces(listener: RequestListener): Promise<number> {
  const http = createHttpServer(listener);
  await once(http.listen(0, "0.0.0.0"), "listening");
  ends.push(async () => {
    http.closeAllConnections();
    await new Promise((resolve) => void http.close(resolve));
  });
  return (http.address() as AddressInfo).port;
}

interface Asked {
  readonly address: string;
  readonly port: number;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Sends any `Host`, which `fetch` does not. */
async function ask({ address, port, path, method = "GET", headers = {}, body }: Asked): Promise<{ status: number; text: string }> {
  const request = httpRequest({ host: address, port, path, method, headers: { Host: "localhost", ...headers }, agent: false });
  request.end(body);
  const [response] = await once(request, "response");
  let text = "";
  for await (const piece of response.setEncoding("utf8")) text += piece;
  return { status: response.statusCode ?? 0, text };
}

const json = { "Content-Type": "application/json" };

/** Everything that an anonymous caller tried with `Host: localhost`. */
const attempts = [
  { path: "/agents/api/sessions" },
  { path: "/agents/api/sessions", method: "POST", headers: json, body: "{}" },
  { path: "/agents/api/sessions/a", method: "DELETE" },
  { path: "/agents/api/agent/execute", method: "POST", headers: json, body: '{"input":"Hi","context":{}}' },
  { path: "/agents/metrics" },
] as const;

/** A Hono application that mounts the server as anybody would. */
function honoListener(server: AgentServer): RequestListener {
  const app = new Hono();
  app.all("/agents/*", (c) => server.fetch(c.req.raw));
  return getRequestListener(app.fetch, { overrideGlobalObjects: false });
}

describe("a server without `authenticate` that is mounted in an application", () => {
  it.skipIf(outside === undefined)(
    "refuses callers from elsewhere, whatever host they name (needs an address that is not loopback)",
    async () => {
      for (const listener of [honoListener(agentServer()), requestListener(agentServer())]) {
        const port = await serveOnAllInterfaces(listener);
        for (const attempt of attempts)
          for (const Host of ["localhost", "127.0.0.1", `localhost:${port}`, "[::1]"]) {
            const { headers, ...what } = { headers: {}, ...attempt };
            const answer = await ask({ address: outside ?? "", port, ...what, headers: { ...headers, Host } });
            expect([answer.status, JSON.parse(answer.text).code]).toEqual([401, "UNAUTHENTICATED"]);
          }
      }
    },
  );

  it("refuses all callers when no adapter gives the address of the socket, and names the remedy", async () => {
    const port = await serveOnAllInterfaces(honoListener(agentServer()));
    const answer = await ask({ address: "127.0.0.1", port, path: "/agents/api/sessions" });
    expect(answer.status).toBe(401);
    expect(JSON.parse(answer.text).fix).toMatch(/`authenticate`.*`remoteAddress`.*`insecure`/);
  });

  it("takes no header for the address of a caller", async () => {
    const port = await serveOnAllInterfaces(honoListener(agentServer()));
    const headers = { "X-Forwarded-For": "127.0.0.1", Forwarded: "for=127.0.0.1", "X-Real-IP": "127.0.0.1", remoteAddress: "127.0.0.1" };
    expect((await ask({ address: "127.0.0.1", port, path: "/agents/api/sessions", headers })).status).toBe(401);
  });

  it("answers this machine through `requestListener`, which vouches for the socket", async () => {
    const port = await serveOnAllInterfaces(requestListener(agentServer()));
    expect((await ask({ address: "127.0.0.1", port, path: "/agents/api/sessions" })).status).toBe(200);
    const trusted = { body: '{"input":"Hi","context":{"systemPrompt":"Be kind."}}', method: "POST", headers: json };
    expect((await ask({ address: "127.0.0.1", port, path: "/agents/api/agent/execute", ...trusted })).status).toBe(200);
    expect((await ask({ address: "127.0.0.1", port, path: "/agents/api/sessions", headers: { Host: "evil.com" } })).status).toBe(421);
  });

  it("answers this machine in an application of Hono that passes the address of the socket", async () => {
    const server = agentServer();
    const app = new Hono();
    app.all("/agents/*", (c) => server.fetch(c.req.raw, { remoteAddress: getConnInfo(c).remote.address }));
    const port = await serveOnAllInterfaces(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
    expect((await ask({ address: "127.0.0.1", port, path: "/agents/api/sessions" })).status).toBe(200);
    if (outside !== undefined) expect((await ask({ address: outside, port, path: "/agents/api/sessions" })).status).toBe(401);
  });

  it("answers addresses of this machine from an adapter, in every spelling of loopback, and no others", async () => {
    const server = agentServer();
    const status = async (remoteAddress: string): Promise<number> =>
      (await server.fetch(new Request("http://localhost/agents/api/sessions"), { remoteAddress })).status;
    for (const address of ["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1", "::FFFF:7f00:1", "0:0:0:0:0:0:0:1"])
      expect([address, await status(address)]).toEqual([address, 200]);
    for (const address of [
      "",
      "localhost",
      "192.0.2.7",
      "10.0.0.1",
      "::",
      "::2",
      "::ffff:192.0.2.7",
      "fe80::1",
      "127.0.0.1.evil.com",
      "127.0.0.999",
    ])
      expect([address, await status(address)]).toEqual([address, 401]);
  });

  it("lets everybody in with `insecure`, and trusts only this machine", async () => {
    const server = agentServer({ insecure: true });
    const send = (init: RequestInit, remoteAddress?: string): Promise<Response> =>
      server.fetch(
        new Request("http://localhost/agents/api/sessions", { method: "POST", headers: json, ...init }),
        remoteAddress === undefined ? {} : { remoteAddress },
      );
    expect((await send({ body: "{}" })).status).toBe(201);
    const prompt = { body: '{"context":{"systemPrompt":"Obey."}}' };
    expect((await send(prompt)).status).toBe(403);
    expect((await send(prompt, "192.0.2.7")).status).toBe(403);
    expect((await send(prompt, "127.0.0.1")).status).toBe(201);
  });

  it("shows its health to all callers", async () => {
    const server = agentServer();
    for (const path of ["/healthz", "/readyz"])
      expect((await server.fetch(new Request(`http://localhost/agents${path}`))).status).toBe(200);
  });
});

describe("`requestListener`", () => {
  it("answers below the path of an application that takes it off, as Express does", async () => {
    const listener = requestListener(agentServer());
    const port = await serveOnAllInterfaces((incoming, outgoing) => {
      const url = incoming.url ?? "";
      Object.assign(incoming, { originalUrl: url, url: url.slice("/agents".length) });
      listener(incoming, outgoing);
    });
    expect((await ask({ address: "127.0.0.1", port, path: "/agents/api/sessions" })).status).toBe(200);
  });

  it.skipIf(outside === undefined)(
    "lets authenticated callers from other machines in (needs an address that is not loopback)",
    async () => {
      const token = "0123456789abcdef";
      const server = agentServer({ authenticate: bearerTokens({ [token]: { user: "anne", scope: "garden" } }) });
      const port = await serveOnAllInterfaces(requestListener(server));
      const asked = { address: outside ?? "", port, path: "/agents/api/sessions" };
      expect((await ask(asked)).status).toBe(401);
      expect((await ask({ ...asked, headers: { Authorization: `Bearer ${token}` } })).status).toBe(200);
    },
  );

  it("streams as it happens", async () => {
    const port = await serveOnAllInterfaces(requestListener(agentServer()));
    const body = '{"sessionId":"a","input":"Hi","context":{}}';
    const answer = await ask({ address: "127.0.0.1", port, path: "/agents/api/agent/execute", method: "POST", headers: json, body });
    expect(answer.text.trimEnd().split("\n").at(-2)).toBe("event: execute_complete");
  });
});
