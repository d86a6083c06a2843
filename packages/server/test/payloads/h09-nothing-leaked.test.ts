import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "@loopwright/core/memory";
import { staticFiles } from "@loopwright/server/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { annesToken, bearer, payloadScene, people, problemIn } from "./payload-scene.ts";
import { rawExchange, requestText } from "./raw-exchange.ts";

const unknown = [
  "/debug",
  "/debug/vars",
  "/nope",
  "/sessions/abc",
  "/admin",
  "/status",
  "/server-status",
  "/actuator/env",
  "/console",
  "/graphql",
  "/swagger.json",
  "/.env",
  "/.git/config",
  "/.well-known/openid-configuration",
  "/package.json",
  "/node_modules/hono/package.json",
  "/src/create-server.ts",
  "/metrics/",
  "/api",
  "/api/",
  "/api/nope",
  "/api/sessions/a/facts",
  "//api/sessions",
  "/api//sessions",
  "/API/sessions",
  "/%61pi/nope",
  "/assets/../api/nope",
];

/** What shows more than a caller needs: stacks, paths, names and versions of what runs here. */
const leaking = /\bat .*:\d+:\d+|node:internal|node_modules|\/src\/|\.ts\b|^x-powered-by|^server:|hono|zod/im;

async function builtPage(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "loopwright-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await mkdir(join(directory, "assets"));
  await mkdir(join(directory, ".vite"));
  const files = {
    "index.html": "<!doctype html><p>page</p>",
    "assets/app-B1aZne9g.js": "run()",
    "assets/app-B1aZne9g.js.map": '{"sources":["secret.ts"]}',
    ".vite/manifest.json": '{"secret":1}',
    ".secret.json": '{"secret":1}',
    "assets/tool.exe": "secret",
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  return directory;
}

describe("H09: a path that is none", () => {
  it.each(unknown)("such as %s is a problem document for every program, without internal details", async (path) => {
    const { port } = await payloadScene({ page: staticFiles(await builtPage()) });
    for (const Accept of [undefined, "*/*", "application/json", "text/event-stream", "image/avif,*/*;q=0.8", "text/html;q=0, */*"]) {
      const answer = await rawExchange({ port, bytes: requestText(`GET ${path}`, Accept === undefined ? {} : { Accept }) });
      expect(problemIn(answer)).toMatchObject({ status: 404, code: "ROUTE_NOT_FOUND", detail: "There is nothing at this path." });
      expect(answer).not.toMatch(leaking);
    }
    for (const method of ["POST", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND"]) {
      const answer = await rawExchange({ port, bytes: requestText(`${method} ${path}`, { Accept: "text/html" }) });
      expect(answer).toMatch(/^HTTP\/1\.1 40[045] /);
      expect(answer).not.toMatch(/<p>page/);
      expect(answer).not.toMatch(leaking);
    }
  });

  it("is the start of the page for a browser that opens it, and never below `/api`", async () => {
    const { port } = await payloadScene({ page: staticFiles(await builtPage()) });
    const Accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    const place = await rawExchange({ port, bytes: requestText("GET /sessions/abc", { Accept }) });
    expect(place).toMatch(/^HTTP\/1\.1 200 /);
    expect(place).toMatch(/^vary: .*\baccept(?:,|$)/im);
    expect(place).toContain("<p>page");
    expect(await rawExchange({ port, bytes: requestText("GET /") })).toContain("<p>page");
    for (const path of ["/api/nope", "/api", "/missing.js", "/assets/app-B1aZne9g.js.map"])
      expect(problemIn(await rawExchange({ port, bytes: requestText(`GET ${path}`, { Accept }) }))).toMatchObject({ status: 404 });
  });
});

describe("H09: files of the page", () => {
  it("are served without source maps, hidden files and files of types that no page has", async () => {
    const { port } = await payloadScene({ page: staticFiles(await builtPage()) });
    const get = (path: string) => rawExchange({ port, bytes: requestText(`GET ${path}`, { Accept: "text/html" }) });
    expect(await get("/assets/app-B1aZne9g.js")).toMatch(/^HTTP\/1\.1 200 [\s\S]*run\(\)$/);
    for (const path of [
      "/assets/app-B1aZne9g.js.map",
      "/.vite/manifest.json",
      "/.secret.json",
      "/assets/tool.exe",
      "/assets/../.secret.json",
      "/assets//app-B1aZne9g.js",
      "/assets/./app-B1aZne9g.js",
    ]) {
      const answer = await get(path);
      expect(answer).not.toContain("secret");
      if (!path.includes("/./")) expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    }
  });

  it("are kept under one name each: other spellings of it fill no memory", async () => {
    const page = staticFiles(await builtPage());
    const file = await page("assets/app-B1aZne9g.js");
    expect(await page("assets/app-B1aZne9g.js")).toBe(file);
    for (const path of ["assets//app-B1aZne9g.js", "assets/./app-B1aZne9g.js", "assets/app-B1aZne9g.js/", "/assets/app-B1aZne9g.js", ""])
      expect(await page(path)).not.toBe(file);
    expect(await page("assets//app-B1aZne9g.js")).toBeUndefined();
  });
});

describe("H09: what operators read", () => {
  it("needs a principal once there is authentication", async () => {
    const { port } = await payloadScene({ authenticate: people });
    for (const path of ["/metrics", "/version", "/openapi.json", "/api/agents", "/api/tools"]) {
      expect(problemIn(await rawExchange({ port, bytes: requestText(`GET ${path}`) }))).toMatchObject({ status: 401 });
      expect(await rawExchange({ port, bytes: requestText(`GET ${path}`, bearer(annesToken)) })).toMatch(/^HTTP\/1\.1 200 /);
    }
    for (const path of ["/healthz", "/readyz"]) {
      const answer = await rawExchange({ port, bytes: requestText(`GET ${path}`) });
      expect(answer.split("\r\n\r\n")[1]).toBe('{"status":"ok"}');
    }
  });

  it("counts what is unknown under names of the server's own", async () => {
    const { port, server } = await payloadScene();
    for (const path of ["/x-secret-a", "/api/sessions/x-secret-b", "/api/sessions?x-secret-c=1"])
      await rawExchange({ port, bytes: requestText(`GET ${path}`) });
    for (const method of ["X-SECRET", "X!SECRET", "REPORT"]) await server.fetch(new Request("http://localhost/healthz", { method }));
    const metrics = await rawExchange({ port, bytes: requestText("GET /metrics") });
    expect(metrics).toContain('loopwright_requests_total{method="OTHER",route="other",status="405"} 3');
    expect(metrics).not.toMatch(/x-secret/i);
  });
});

describe("H09: a bug", () => {
  it("is reported by its name and the id of the request, under which the log has its place", async () => {
    const inner = memoryStore();
    const secret = "hunter2 at secret.ts:1:2";
    const store = {
      ...inner,
      index: {
        ...inner.index,
        list: () => Promise.reject(new RangeError(secret)),
      },
    };
    const { port, logged } = await payloadScene({ store, authenticate: people });
    const headers = { ...bearer(annesToken), "X-Request-Id": "trace-7" };
    const answer = await rawExchange({ port, bytes: requestText("GET /api/sessions", headers) });
    expect(problemIn(answer)).toEqual({
      type: "urn:loopwright:error:INTERNAL",
      title: "An invariant was broken: this is a bug.",
      status: 500,
      code: "INTERNAL",
      detail: "Unexpected RangeError.",
      fix: expect.any(String),
      docs: "docs/errors.md#internal",
      retryable: false,
      error: "Unexpected RangeError.",
    });
    expect(answer).toMatch(/^x-request-id: trace-7$/im);
    expect(answer).not.toMatch(leaking);
    expect(logged).toMatchObject([{ level: "error", fields: { requestId: "trace-7", route: "/api/sessions", stack: expect.any(String) } }]);
    expect(JSON.stringify([answer, logged])).not.toContain("hunter2");
  });
});
