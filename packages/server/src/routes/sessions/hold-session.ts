import { jsonResponse } from "../../request/paced-response.ts";
import type { Route } from "../../request/route.ts";
import { type HoldRequest, holdRequest, sessionSnapshot } from "../../schemas/index.ts";
import { withSession } from "../open-session.ts";
import { type SessionParams, sessionParams } from "../session-params.ts";
import { withDerivedTitle } from "./with-derived-title.ts";

const about = { path: "/api/sessions/:id/hold", access: "principal", action: "session.hold", params: sessionParams } as const;
const responses = {
  200: { description: "The session after the change.", schema: sessionSnapshot },
  404: { description: "No such session." },
  410: { description: "The session is closed." },
};

export const holdSessionRoute: Route<SessionParams, unknown, HoldRequest> = {
  ...about,
  method: "PUT",
  id: "holdSession",
  summary: "Puts a session under a legal hold: until it is lifted, neither a request nor its retention erases it.",
  body: holdRequest,
  bodyOptional: true,
  responses,
  handle: (call) =>
    withSession(call, call.params.id, async ({ session }) => {
      await session.hold({ ...call.body, by: call.principal.user });
      return jsonResponse(withDerivedTitle(session.snapshot()), call.server.clock);
    }),
};

export const releaseHoldRoute: Route<SessionParams> = {
  ...about,
  method: "DELETE",
  id: "releaseHold",
  summary: "Lifts the legal hold of a session.",
  responses,
  handle: (call) =>
    withSession(call, call.params.id, async ({ session }) => {
      await session.releaseHold({ by: call.principal.user });
      return jsonResponse(withDerivedTitle(session.snapshot()), call.server.clock);
    }),
};
