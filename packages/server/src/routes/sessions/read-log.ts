import { AgentError, type Fact } from "@loopwright/core";
import { z } from "zod";
import { jsonResponse } from "../../request/paced-response.ts";
import type { Route } from "../../request/route.ts";
import { charsLeft } from "../../stream/json-in-pieces.ts";
import { withSession } from "../open-session.ts";
import { type SessionParams, sessionParams } from "../session-params.ts";

interface LogQuery {
  readonly from: number;
}

const query: z.ZodType<LogQuery> = z.object({ from: z.coerce.number().int().min(1).default(1) });

/** Facts that are read at once. */
const readMax = 100;

/** What a session is made of, for a replay elsewhere. */
export const readLogRoute: Route<SessionParams, LogQuery> = {
  method: "GET",
  path: "/api/sessions/:id/log",
  id: "readLog",
  summary: "A page of the recorded facts of a session, from the number `from`: what `replaySession` runs again. For trusted callers alone.",
  access: "principal",
  action: "session.log",
  params: sessionParams,
  query,
  responses: {
    200: {
      description: "The facts, oldest first. `next`: the `from` of the next page, where more follow.",
      schema: z.object({
        sessionId: z.string(),
        facts: z.array(z.looseObject({ seq: z.number(), type: z.string() })),
        next: z.number().optional(),
      }),
    },
    403: { description: "The caller is not trusted: facts hold prompts, and what other callers sent." },
    404: { description: "No such session." },
  },
  handle: (call) =>
    withSession(call, call.params.id, async ({ ref }) => {
      const { server, principal, query: asked } = call;
      if (principal.trusted !== true)
        throw new AgentError("FORBIDDEN", {
          message: "The log of a session may be read by trusted callers only: it holds prompts.",
          fix: "Read `GET /api/sessions/:id`, or ask the operator for the log.",
        });
      const facts: Fact[] = [];
      const read = await server.options.store.log.read(ref, { from: asked.from, limit: readMax });
      // `charsLeft` counts each character six times, so the limit is six times as large.
      let left = server.limits.pageBytes * 6;
      for (const fact of read) {
        if (facts.length > 0 && left <= 0) break;
        facts.push(fact);
        left = charsLeft(fact, left);
      }
      const isPart = facts.length < read.length || read.length === readMax;
      const next = isPart ? { next: asked.from + facts.length } : {};
      return jsonResponse({ sessionId: ref.session, facts, ...next }, server.clock, { headers: { "Cache-Control": "private, no-store" } });
    }),
};
