import { jsonResponse } from "../../request/paced-response.ts";
import type { Route } from "../../request/route.ts";
import { sessionSnapshot } from "../../schemas/index.ts";
import { type MinSeqQuery, minSeqQuery } from "../await-seq.ts";
import { type SessionParams, sessionParams } from "../session-params.ts";
import { readState } from "./read-state.ts";

export const readSessionRoute: Route<SessionParams, MinSeqQuery> = {
  method: "GET",
  path: "/api/sessions/:id",
  id: "readSession",
  summary: "Everything that a screen needs to show a session; later changes are the events after its `cursor`.",
  access: "principal",
  action: "session.read",
  params: sessionParams,
  query: minSeqQuery,
  responses: {
    200: {
      description: "The current state; `ETag` changes with it. With `X-Session-Stale`: the last known state; the store is unavailable.",
      schema: sessionSnapshot,
    },
    304: { description: "The state still has the `ETag` in `If-None-Match`." },
    404: { description: "No such session." },
    503: { description: "This node has not read the log up to `minSeq` within a second." },
  },
  async handle(call) {
    const { snapshot, headers } = await readState(call, call.params.id, call.query.minSeq);
    const more = { ...headers, ETag: `"${snapshot.cursor}"`, "Cache-Control": "private, no-cache" };
    if (call.request.headers.get("If-None-Match") === more.ETag) return new Response(null, { status: 304, headers: more });
    return jsonResponse(snapshot, call.server.clock, { headers: more });
  },
};
