import { jsonResponse } from "../../request/paced-response.ts";
import type { Route } from "../../request/route.ts";
import { type ChangeSessionRequest, changeSessionRequest, sessionSnapshot } from "../../schemas/index.ts";
import { withSession } from "../open-session.ts";
import { type SessionParams, sessionParams } from "../session-params.ts";
import { withDerivedTitle } from "./with-derived-title.ts";

export const changeSessionRoute: Route<SessionParams, unknown, ChangeSessionRequest> = {
  method: "PATCH",
  path: "/api/sessions/:id",
  id: "changeSession",
  summary: "Renames a session, keeps data with it, or chooses the branch that the next input continues.",
  access: "principal",
  action: "session.change",
  params: sessionParams,
  body: changeSessionRequest,
  responses: {
    200: { description: "The session after the change.", schema: sessionSnapshot },
    400: { description: "`head` names no message." },
    404: { description: "No such session." },
    410: { description: "The session is closed." },
  },
  handle: (call) =>
    withSession(call, call.params.id, async ({ session }) => {
      const { head, ...change } = call.body;
      if (head !== undefined) await session.moveHead(head);
      if (Object.keys(change).length > 0) await session.change(change);
      return jsonResponse(withDerivedTitle(session.snapshot()), call.server.clock);
    }),
};
