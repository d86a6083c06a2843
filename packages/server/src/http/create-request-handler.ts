import { Hono } from "hono";
import type { InProcess, Route } from "../request/route.ts";
import type { ServerEnv } from "../request/server-env.ts";
import type { ServerContext } from "../server-context.ts";
import type { Principal } from "../server-options.ts";
import type { OpenSink } from "../stream/event-sink.ts";
import { openWebSink } from "../stream/web-sink.ts";
import { answerRoute, type Connection } from "./answer-route.ts";
import { checkHost } from "./check-host.ts";
import { checkOrigin } from "./check-origin.ts";
import { isLoopbackAddress } from "./loopback-address.ts";
import { MethodRefused, refuseRequest } from "./refuse-request.ts";
import { applyResponseHeaders, preflightResponse } from "./response-headers.ts";
import { servePage } from "./serve-page.ts";

/** Returns the function that answers every request: with a route, the page, or a problem document for a refused request. It never rejects. */
export function createRequestHandler(
  routes: readonly Route[],
  server: ServerContext,
): (request: Request, env?: ServerEnv) => Promise<Response> {
  const { hosts = [], origins = [] } = server.options;
  const app = createApp(routes, server);
  const builtIn = createApp(
    routes.filter(({ isExtension }) => !isExtension),
    server,
  );
  const inProcess = (principal: Principal): InProcess => ({
    url: `http://in-process${server.options.basePath ?? ""}`,
    fetch: async (request) =>
      builtIn.fetch(request, { openSink: openWebSink, requestId: server.ids.next(), caller: notLocal, principal, inProcess }),
  });

  return async function handleRequest(request, env = {}) {
    const context = { requestId: requestIdOf(request, server), origin: undefined as string | undefined };
    let isStream = false;
    const openSink: OpenSink = (head) => {
      isStream = true;
      applyResponseHeaders(head.headers, context);
      return (env.openSink ?? openWebSink)(head);
    };
    const { requestId } = context;
    let response: Response;
    try {
      checkHost(request, env.localHost === undefined ? hosts : [...hosts, env.localHost]);
      context.origin = checkOrigin(request, origins);
      const isPreflight = request.method === "OPTIONS" && context.origin !== undefined;
      const caller = { isLocal: isLoopbackAddress(env.remoteAddress ?? ""), isExposed: env.isExposed ?? false };
      response = isPreflight ? preflightResponse() : await app.fetch(request, { openSink, requestId, caller, inProcess });
    } catch (error) {
      response = refuseRequest(error, { server, requestId, request, route: "door" });
    }
    if (!isStream) applyResponseHeaders(response.headers, context);
    return response;
  };
}

/** A request in process comes with its principal, because it has no connection that could be authenticated. */
const notLocal = { isLocal: false, isExposed: false };

type App = Hono<{ Bindings: Connection }>;

function createApp(routes: readonly Route[], server: ServerContext): App {
  const basePath = server.options.basePath ?? "";
  const app: App = new Hono<{ Bindings: Connection }>();
  for (const route of routes) {
    app.on(route.method, `${basePath}${route.path}`, async (matched) => {
      const { raw } = matched.req;
      try {
        const params = matched.req.param() as Record<string, string>;
        const response = await answerRoute(route, { request: raw, params, connection: matched.env }, server);
        server.metrics.count(raw.method, route.path, response.status);
        return response;
      } catch (error) {
        return refuseRequest(error, { server, requestId: matched.env.requestId, request: raw, route: route.path });
      }
    });
  }
  const allowed = allowedMethods(routes);
  app.notFound(async (unmatched) => {
    const { raw } = unmatched.req;
    try {
      const path = pathBelow(raw, basePath);
      const allow = path === undefined ? undefined : allowed(path);
      if (allow) throw new MethodRefused(allow);
      return await servePage(raw, path, server);
    } catch (error) {
      return refuseRequest(error, { server, requestId: unmatched.env.requestId, request: raw, route: "other" });
    }
  });
  return app;
}

/** The methods of a path, for `Allow`; `undefined` if no route has the path. */
function allowedMethods(routes: readonly Route[]): (path: string) => string | undefined {
  const patterns = routes.map(({ path, method }) => ({
    method,
    pattern: new RegExp(`^${path.replace(/[.]/g, "\\.").replace(/:\w+/g, "[^/]+")}$`),
  }));
  return (path) => {
    const methods = new Set(
      patterns.filter(({ pattern }) => pattern.test(path)).flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])),
    );
    return methods.size === 0 ? undefined : [...methods].join(", ");
  };
}

/** The path of a request without the base path; `undefined` if the request is not below the base path. */
function pathBelow(request: Request, basePath: string): string | undefined {
  const { pathname } = new URL(request.url);
  if (basePath === "" || pathname.startsWith(`${basePath}/`)) return pathname.slice(basePath.length);
  return pathname === basePath ? "" : undefined;
}

const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/;

/** The caller's `X-Request-Id` if it is a usable id, otherwise a new one. */
function requestIdOf(request: Request, { ids }: ServerContext): string {
  const given = request.headers.get("X-Request-Id");
  return given !== null && requestIdPattern.test(given) ? given : ids.next();
}
