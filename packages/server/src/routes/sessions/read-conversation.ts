import { AgentError, isAgentError } from "@loopwright/core";
import { z } from "zod";
import { jsonResponse } from "../../request/paced-response.ts";
import type { Route } from "../../request/route.ts";
import { message } from "../../schemas/index.ts";
import { type MinSeqQuery, minSeqQuery } from "../await-seq.ts";
import { type SessionParams, sessionParams } from "../session-params.ts";
import { readState } from "./read-state.ts";

/** Clients of this route compare the text. */
const notFound = "Session not found";

export const readConversationRoute: Route<SessionParams, MinSeqQuery> = {
  method: "GET",
  path: "/api/agent/session/:id",
  id: "readConversation",
  summary: "The messages of a session, from the first one to the head.",
  absent: () => new AgentError("SESSION_NOT_FOUND", { message: notFound }),
  access: "principal",
  action: "session.read",
  params: sessionParams,
  query: minSeqQuery,
  responses: {
    200: { description: "The messages, oldest first.", schema: z.object({ messages: z.array(message) }) },
    404: { description: "No such session." },
  },
  async handle(call) {
    try {
      const { messages, headers } = await readState(call, call.params.id, call.query.minSeq);
      return jsonResponse({ messages: messages() }, call.server.clock, { headers });
    } catch (error) {
      throw isAgentError(error, "SESSION_NOT_FOUND") ? new AgentError("SESSION_NOT_FOUND", { message: notFound }) : error;
    }
  },
};
