import { jsonResponse } from "../../request/paced-response.ts";
import type { Route } from "../../request/route.ts";
import { sessionSnapshot } from "../../schemas/index.ts";
import { type MinSeqQuery, minSeqQuery } from "../min-seq.ts";
import { type SessionParams, sessionParams } from "../session-params.ts";
import { readState } from "./read-state.ts";

export const readSessionRoute: Route<SessionParams, MinSeqQuery> = {
  method: "GET",
  path: "/api/sessions/:id",
  id: "readSession",
  summary: "Everything a screen needs of a session; what comes later follows as events after its `cursor`.",
  access: "principal",
  params: sessionParams,
  query: minSeqQuery,
  responses: {
    200: {
      description: "The session as it stands; `ETag` changes with it. `X-Session-Stale`: as it stood before the store went away.",
      schema: sessionSnapshot,
    },
    304: { description: "It stands as `If-None-Match` says." },
    404: { description: "No such session." },
    503: { description: "This node has not seen `minSeq` within a second." },
  },
  async handle(call) {
    const { snapshot, headers } = await readState(call, call.params.id, call.query.minSeq);
    const more = { ...headers, ETag: `"${snapshot.cursor}"`, "Cache-Control": "private, no-cache" };
    if (call.request.headers.get("If-None-Match") === more.ETag) return new Response(null, { status: 304, headers: more });
    return jsonResponse(snapshot, call.scene.clock, { headers: more });
  },
};
