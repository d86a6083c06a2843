import { AgentError } from "@loopwright/core";
import { Hono } from "hono";
import type { Route } from "../request/route.ts";
import type { ServerEnv } from "../request/server-env.ts";
import type { ServerScene } from "../server-scene.ts";
import type { OpenSink } from "../stream/event-sink.ts";
import { openWebSink } from "../stream/web-sink.ts";
import { dressAnswer, preflightResponse } from "./answer-headers.ts";
import { answerRoute, type Passage, type Walk } from "./answer-route.ts";
import { checkHost } from "./check-host.ts";
import { checkOrigin } from "./check-origin.ts";
import { agentErrorOf, problemResponse } from "./problem-response.ts";
import { servePage } from "./serve-page.ts";

/** Answers every request: the checks that come before any route, the routes, the page, and problem documents for what is refused. */
export function createDoor(routes: readonly Route[], walk: Walk): (request: Request, env?: ServerEnv) => Promise<Response> {
  const { scene } = walk;
  const { hosts = [], origins = [] } = scene.options;
  const app = createApp(routes, walk);

  return async (request, env = {}) => {
    const context = { requestId: requestIdOf(request, scene), origin: undefined as string | undefined };
    let isStream = false;
    const openSink: OpenSink = (head) => {
      isStream = true;
      dressAnswer(head.headers, context);
      return (env.openSink ?? openWebSink)(head);
    };
    let response: Response;
    try {
      checkHost(request, env.localHost === undefined ? hosts : [...hosts, env.localHost]);
      context.origin = checkOrigin(request, origins);
      const isPreflight = request.method === "OPTIONS" && context.origin !== undefined;
      const { requestId } = context;
      response = isPreflight ? preflightResponse() : await app.fetch(request, { openSink, requestId, caller: env });
    } catch (error) {
      response = refuse(error, { scene, requestId: context.requestId, request, route: "door" });
    }
    if (!isStream) dressAnswer(response.headers, context);
    return response;
  };
}

type App = Hono<{ Bindings: Passage }>;

function createApp(routes: readonly Route[], walk: Walk): App {
  const { scene } = walk;
  const basePath = scene.options.basePath ?? "";
  const app: App = new Hono<{ Bindings: Passage }>();
  for (const route of routes) {
    app.on(route.method, `${basePath}${route.path}`, async (context) => {
      const { raw } = context.req;
      try {
        const params = context.req.param() as Record<string, string>;
        const response = await answerRoute(route, { request: raw, params, passage: context.env }, walk);
        scene.metrics.count(raw.method, route.path, response.status);
        return response;
      } catch (error) {
        return refuse(error, { scene, requestId: context.env.requestId, request: raw, route: route.path });
      }
    });
  }
  const allowed = allowedMethods(routes);
  app.notFound(async (context) => {
    const { raw } = context.req;
    try {
      const path = pathBelow(raw, basePath);
      const allow = path === undefined ? undefined : allowed(path);
      if (allow) throw new MethodRefused(allow);
      return await servePage(raw, path, scene);
    } catch (error) {
      return refuse(error, { scene, requestId: context.env.requestId, request: raw, route: "other" });
    }
  });
  return app;
}

/** A wrong method, with the right ones. */
class MethodRefused extends Error {
  readonly allow: string;
  constructor(allow: string) {
    super("The route does not take this method.");
    this.allow = allow;
  }
}

/** Tells the methods of a path that some route has. */
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

/** The path without the base path; `undefined` where it is not below it. */
function pathBelow(request: Request, basePath: string): string | undefined {
  const { pathname } = new URL(request.url);
  if (basePath === "" || pathname.startsWith(`${basePath}/`)) return pathname.slice(basePath.length);
  return pathname === basePath ? "" : undefined;
}

interface Refusal {
  readonly scene: ServerScene;
  readonly request: Request;
  /** Name of the route, for metrics and the log. */
  readonly route: string;
  /** All that the caller learns of a bug: it leads to the entry of the log. */
  readonly requestId: string;
}

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

function refuse(thrown: unknown, { scene, request, route, requestId }: Refusal): Response {
  const headers = thrown instanceof MethodRefused ? { Allow: thrown.allow } : {};
  const cause =
    thrown instanceof MethodRefused
      ? new AgentError("METHOD_NOT_ALLOWED", { message: `The route takes ${thrown.allow}, not ${request.method.slice(0, 16)}.` })
      : thrown;
  const error = agentErrorOf(cause);
  const response = problemResponse(error, headers);
  // Callers may make up methods, and each has a line in the metrics.
  scene.metrics.count(methods.has(request.method) ? request.method : "OTHER", route, response.status);
  if (error.code === "INTERNAL") scene.logger.log("error", error.message, { route, requestId, stack: framesOf(thrown) });
  return response;
}

/** Where it was thrown, without its text, which may hold anything. */
function framesOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  return thrown.stack
    ?.split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8)
    .join("\n");
}

const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/;

/** The caller's own, where it can be one. */
function requestIdOf(request: Request, { ids }: ServerScene): string {
  const given = request.headers.get("X-Request-Id");
  return given !== null && requestIdPattern.test(given) ? given : ids.next();
}
