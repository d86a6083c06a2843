import type { Route } from "../../request/route.ts";
import { withSession } from "../open-session.ts";
import { type SessionParams, sessionParams } from "../session-params.ts";

export const removeSessionRoute: Route<SessionParams> = {
  method: "DELETE",
  path: "/api/sessions/:id",
  id: "removeSession",
  summary: "Stops the open run of a session, if any, and deletes the session for good. Its id is never used again.",
  access: "principal",
  action: "session.remove",
  params: sessionParams,
  responses: {
    204: { description: "The session is deleted; its event streams have ended." },
    404: { description: "No such session." },
    409: { description: "The session is under a legal hold." },
  },
  async handle(call) {
    const ref = await withSession(call, call.params.id, (hosted) => hosted.ref);
    await call.server.host.remove(ref);
    return new Response(null, { status: 204 });
  },
};
