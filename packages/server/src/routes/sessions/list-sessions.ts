import { isId } from "@loopwright/core/ports";
import { z } from "zod";
import { jsonResponse } from "../../request/paced-response.ts";
import type { Route } from "../../request/route.ts";
import { sessionHit, sessionSummary } from "../../schemas/index.ts";
import { pageCursor, placeOf } from "./page-cursor.ts";

interface ListQuery {
  readonly limit: number;
  readonly before?: string | undefined;
  readonly search?: string | undefined;
  readonly parent?: string | undefined;
}

const query: z.ZodType<ListQuery> = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  before: z.string().max(100).optional(),
  search: z.string().max(500).optional(),
  parent: z.string().max(100).optional(),
});

const page = z.object({ sessions: z.array(sessionSummary), next: z.string().optional() });
const found = z.object({ hits: z.array(sessionHit) });

export const listSessionsRoute: Route<unknown, ListQuery> = {
  method: "GET",
  path: "/api/sessions",
  id: "listSessions",
  summary:
    "Lists the sessions of the caller's scope, newest change first: those that are children of none, those of `parent`, or those that hold all words of `search`.",
  access: "principal",
  action: "session.list",
  query,
  responses: {
    200: { description: "A page, and where the next one begins; with `search` what was found.", schema: z.union([page, found]) },
    400: { description: "The page cursor cannot be read." },
  },
  async handle({ principal: { scope }, request, late, server, query: { limit, before, search, parent } }) {
    const { index } = server.options.store;
    // The work ends with the request: when its caller has gone, and when it is answered without it.
    const signal = AbortSignal.any([request.signal, late]);
    if (search !== undefined && search.trim() !== "")
      return jsonResponse({ hits: await index.search(scope, search, { limit, signal }) }, server.clock);
    if (parent !== undefined && !isId(parent)) return jsonResponse({ sessions: [] }, server.clock);
    const family = parent === undefined ? {} : { parent };
    const sessions = await index.list(scope, { limit, signal, ...family, ...(before === undefined ? {} : { before: placeOf(before) }) });
    const last = sessions.at(-1);
    return jsonResponse({ sessions, ...(last && sessions.length === limit ? { next: pageCursor(last) } : {}) }, server.clock);
  },
};
