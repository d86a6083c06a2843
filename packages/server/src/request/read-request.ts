import { AgentError } from "@loopwright/core";
import type { ServerContext } from "../server-context.ts";
import type { Principal } from "../server-options.ts";
import { checkPromptFields } from "./check-prompt-fields.ts";
import { parseJson } from "./parse-json.ts";
import { readBody } from "./read-body.ts";
import type { RequestContext, Route } from "./route.ts";
import { validated } from "./validate-with-schema.ts";

export interface UnreadRequest {
  readonly request: Request;
  readonly params: Record<string, string>;
  readonly principal: Principal;
}

/** Query, body and parameters in the shape of the route. @throws AgentError INPUT_INVALID, MEDIA_TYPE_UNSUPPORTED, PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT */
export async function readRequest(
  route: Route,
  { request, params, principal }: UnreadRequest,
  server: ServerContext,
): Promise<Pick<RequestContext, "params" | "query" | "body">> {
  const query = route.query ? validated(route.query, queryOf(request), "query") : undefined;
  const body = route.body ? await bodyOf(route, request, { principal, server }) : undefined;
  return { query, body, params: route.params ? validated(route.params, params, "query") : params };
}

/** Values by name; a name that occurs more than once has a list. */
function queryOf(request: Request): { readonly [name: string]: string | readonly string[] } {
  const { searchParams } = new URL(request.url);
  const entries = [...new Set(searchParams.keys())].map((name) => {
    const values = searchParams.getAll(name);
    return [name, values.length === 1 ? (values[0] ?? "") : values] as const;
  });
  return Object.fromEntries(entries);
}

async function bodyOf(
  route: Route,
  request: Request,
  { principal, server }: { readonly principal: Principal; readonly server: ServerContext },
): Promise<unknown> {
  if (!route.body) return undefined;
  const mediaType = request.headers.get("Content-Type");
  const isJson = mediaType?.split(";", 1)[0]?.trim().toLowerCase() === "application/json";
  if (!isJson && !(route.bodyOptional && mediaType === null)) throw noJson();
  const { bodyBytes, bodyMs } = server.limits;
  const bytes = await readBody(request, { bytesMax: bodyBytes, totalMs: bodyMs, clock: server.clock });
  if (bytes.length === 0 && route.bodyOptional) return validated(route.body, {}, "body");
  if (!isJson) throw noJson();
  const json = parseJson(bytes);
  server.options.auditBody?.(json, { principal, logger: server.logger });
  checkPromptFields(json);
  return validated(route.body, json, "body");
}

const noJson = (): AgentError => new AgentError("MEDIA_TYPE_UNSUPPORTED", { message: "The body is not `application/json`." });
