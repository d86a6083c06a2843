import type { Route } from "../../request/route.ts";
import { withSession } from "../open-session.ts";
import { type SessionParams, sessionParams } from "../session-params.ts";

export const removeSessionRoute: Route<SessionParams> = {
  method: "DELETE",
  path: "/api/sessions/:id",
  id: "removeSession",
  summary: "Stops what runs in a session and deletes it for good. Its id is never used again.",
  access: "principal",
  params: sessionParams,
  responses: { 204: { description: "It is gone; open streams of it have ended." }, 404: { description: "No such session." } },
  async handle(call) {
    const ref = await withSession(call, call.params.id, (hosted) => hosted.ref);
    await call.scene.host.remove(ref);
    return new Response(null, { status: 204 });
  },
};
