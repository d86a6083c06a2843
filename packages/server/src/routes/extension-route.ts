import { AgentError, isAgentError } from "@loopwright/core";
import { redactedCause } from "../redact-cause-for-log.ts";
import { parseJson } from "../request/parse-json.ts";
import { readBody } from "../request/read-body.ts";
import type { RequestContext, Route } from "../request/route.ts";
import type { ExtensionContext, ExtensionRoute } from "../server-options.ts";

const timeoutMsDefault = 30_000;

/** Makes a route of an extension route, with the same checks before it. */
export function routeOfExtension(extension: ExtensionRoute): Route<{ readonly [name: string]: string }> {
  const { method, path, id, summary = id, describes = {} } = extension;
  return {
    ...{ method, path, id, summary },
    access: "principal",
    action: `extension.${id}`,
    isRefusedAtEnd: method !== "GET",
    isExtension: true,
    hasOwnDeadline: true,
    responses: { [describes.status ?? 200]: { description: "An answer of the application." } },
    described: describes,
    handle: async (context) => {
      const body = await bodyOf(extension, context);
      return inTime(extension, context, (signal) => {
        const { request, principal, params, inProcess } = context;
        const query = new URL(request.url).searchParams;
        return extension.handle({ request, principal, params, query, body, signal, ...inProcess() });
      });
    },
  };
}

async function bodyOf({ body }: ExtensionRoute, { request, server }: RequestContext): Promise<ExtensionContext["body"]> {
  const { limits, clock } = server;
  if (body === "json") {
    const mediaType = request.headers.get("Content-Type")?.split(";", 1)[0]?.trim().toLowerCase();
    if (mediaType !== "application/json")
      throw new AgentError("MEDIA_TYPE_UNSUPPORTED", { message: "The body is not `application/json`." });
    return parseJson(await readBody(request, { bytesMax: limits.bodyBytes, totalMs: limits.bodyMs, clock }));
  }
  if (body !== "bytes") return undefined;
  const pace = { bytes: limits.filePaceBytes, everyMs: limits.bodyMs };
  return readBody(request, { bytesMax: limits.fileBytes, totalMs: limits.fileMs, pace, clock });
}

/** The response of the handler, with headers that may be changed. @throws AgentError what the handler throws, HOOK_TIMEOUT, HOOK_FAILED */
async function inTime(
  { id, timeoutMs = timeoutMsDefault }: ExtensionRoute,
  { request, principal, server }: RequestContext,
  handle: (signal: AbortSignal) => Response | Promise<Response>,
): Promise<Response> {
  const { clock, logger } = server;
  const lateness = new AbortController();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const cancel = clock.after(timeoutMs, () => {
    lateness.abort();
    reject(new AgentError("HOOK_TIMEOUT", { message: `The route \`${id}\` gave no answer within ${timeoutMs} ms.` }));
  });
  try {
    const handled = (async () => handle(AbortSignal.any([request.signal, lateness.signal])))();
    const response = await Promise.race([handled, late]);
    if (!(response instanceof Response)) throw new TypeError("The handler returned no `Response`.");
    // The headers of a response of `fetch` cannot be changed.
    return new Response(response.body, response);
  } catch (cause) {
    if (isAgentError(cause)) throw cause;
    const { user, scope } = principal;
    logger.log("error", "An extension route threw an error.", { route: id, user, scope, ...redactedCause(cause, request) });
    throw new AgentError("HOOK_FAILED", {
      message: `The route \`${id}\` failed.`,
      fix: "Ask the operator: the log of the server has the cause.",
      cause,
    });
  } finally {
    cancel();
  }
}
