import type { Sharing } from "@loopwright/core/protocol";
import { jsonResponse } from "../../request/paced-response.ts";
import type { Route } from "../../request/route.ts";
import { sessionSnapshot, sharing } from "../../schemas/index.ts";
import { withSession } from "../open-session.ts";
import { type SessionParams, sessionParams } from "../session-params.ts";
import { withDerivedTitle } from "./with-derived-title.ts";

export const shareSessionRoute: Route<SessionParams, unknown, Sharing> = {
  method: "PUT",
  path: "/api/sessions/:id/sharing",
  id: "shareSession",
  summary: "Sets what other users of the scope may do in a session, in place of the sharing before; a policy of access reads it.",
  access: "principal",
  action: "session.share",
  params: sessionParams,
  body: sharing,
  responses: {
    200: { description: "The session after the change.", schema: sessionSnapshot },
    404: { description: "No such session." },
    410: { description: "The session is closed." },
  },
  handle: (call) =>
    withSession(call, call.params.id, async ({ session }) => {
      await session.change({ sharing: call.body });
      return jsonResponse(withDerivedTitle(session.snapshot()), call.server.clock);
    }),
};
