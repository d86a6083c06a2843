import type { Route } from "../http/route.ts";
import { sessionSnapshot } from "../schemas/index.ts";
import { withSession } from "./open-session.ts";
import { type SessionParams, sessionParams } from "./session-params.ts";

export const readSessionRoute: Route<SessionParams> = {
  method: "GET",
  path: "/api/sessions/:id",
  id: "readSession",
  summary: "Everything a screen needs of a session; what comes later follows as events after its `cursor`.",
  access: "principal",
  params: sessionParams,
  responses: {
    200: { description: "The session as it stands; `ETag` changes with it.", schema: sessionSnapshot },
    304: { description: "It stands as `If-None-Match` says." },
    404: { description: "No such session." },
  },
  handle: (call) =>
    withSession(call, call.params.id, ({ session }) => {
      const snapshot = session.snapshot();
      const headers = { ETag: `"${snapshot.cursor}"`, "Cache-Control": "private, no-cache" };
      if (call.request.headers.get("If-None-Match") === headers.ETag) return new Response(null, { status: 304, headers });
      return Response.json(snapshot, { headers });
    }),
};
