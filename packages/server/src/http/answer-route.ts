import { AgentError } from "@loopwright/core";
import { checkPromptFields } from "../identity/check-prompt-fields.ts";
import { identify } from "../identity/identify.ts";
import type { Caller } from "../identity/local-principal.ts";
import type { RateLimiter } from "../meters/rate-limiter.ts";
import { auditModuleText } from "../modules/audit-module-text.ts";
import { answerInTime, tooLate } from "../request/answer-in-time.ts";
import { parseJson } from "../request/parse-json.ts";
import { readBody } from "../request/read-body.ts";
import type { Route } from "../request/route.ts";
import { validated } from "../request/validated.ts";
import type { Principal } from "../server-options.ts";
import type { ServerScene } from "../server-scene.ts";
import type { OpenSink } from "../stream/event-sink.ts";

/** One request on its way to its route. */
export interface Passage {
  readonly openSink: OpenSink;
  readonly caller: Caller;
  readonly requestId: string;
}

export interface Walk {
  readonly scene: ServerScene;
  readonly rates: RateLimiter;
}

const nobody: Principal = { user: "nobody", scope: "public" };
/** Where those are counted who do not say who they are. */
const strangers = "?";

/** The answer of a route: who asks, how often, what they say, then the handler. @throws AgentError for everything that is refused */
export async function answerRoute(
  route: Route,
  { request, params, passage }: { readonly request: Request; readonly params: Record<string, string>; readonly passage: Passage },
  { scene, rates }: Walk,
): Promise<Response> {
  if (request.method === "HEAD" && Object.values(route.responses).some(({ stream }) => stream))
    throw new AgentError("METHOD_NOT_ALLOWED", { message: "A stream has no head without its body.", fix: "Use GET." });
  const principal = route.access === "public" ? nobody : await known(request, passage, { scene, rates });
  if (route.access === "principal") await rates.take(`${principal.scope}/${principal.user}`, route.method !== "GET");
  if (route.isRefusedAtEnd && !scene.isReady())
    throw new AgentError("NOT_READY", { message: "The server is shutting down.", retryAfterMs: 2_000 });
  const query = route.query ? validated(route.query, queryOf(request), "query") : undefined;
  const body = route.body ? await bodyOf(request, { route, principal, scene }) : undefined;
  const lateness = new AbortController();
  const late = lateness.signal;
  const call = { request, late, principal, params: route.params ? validated(route.params, params, "query") : params, query, body, scene };
  // Health is told anyway, and the body of a file takes its time: its route asks the store itself.
  if (route.access === "public" || route.hasRawBody) return route.handle({ ...call, openSink: passage.openSink });
  const openSink: OpenSink = (head) => {
    if (late.aborted) throw tooLate(scene.limits.answerMs);
    return passage.openSink(head);
  };
  const answer = Promise.resolve(route.handle({ ...call, openSink }));
  return answerInTime(answer, scene, () => lateness.abort());
}

async function known(request: Request, { caller }: Passage, { scene, rates }: Walk): Promise<Principal> {
  try {
    return await identify(request, scene, caller);
  } catch (error) {
    await rates.take(strangers, false);
    throw error;
  }
}

/** A name that comes more than once has a list. */
function queryOf(request: Request): { readonly [name: string]: string | readonly string[] } {
  const { searchParams } = new URL(request.url);
  const entries = [...new Set(searchParams.keys())].map((name) => {
    const values = searchParams.getAll(name);
    return [name, values.length === 1 ? (values[0] ?? "") : values] as const;
  });
  return Object.fromEntries(entries);
}

async function bodyOf(
  request: Request,
  { route, principal, scene }: { readonly route: Route; readonly principal: Principal; readonly scene: ServerScene },
): Promise<unknown> {
  if (!route.body) return undefined;
  const mediaType = request.headers.get("Content-Type");
  const isJson = mediaType?.split(";", 1)[0]?.trim().toLowerCase() === "application/json";
  if (!isJson && !(route.bodyOptional && mediaType === null)) throw noJson();
  const { bodyBytes, bodyMs } = scene.limits;
  const bytes = await readBody(request, { bytesMax: bodyBytes, totalMs: bodyMs, clock: scene.clock });
  if (bytes.length === 0 && route.bodyOptional) return validated(route.body, {}, "body");
  if (!isJson) throw noJson();
  const json = parseJson(bytes);
  auditModuleText(json, principal, scene);
  checkPromptFields(json);
  return validated(route.body, json, "body");
}

const noJson = (): AgentError => new AgentError("MEDIA_TYPE_UNSUPPORTED", { message: "The body is not `application/json`." });
