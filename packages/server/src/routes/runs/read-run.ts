import { AgentError } from "@loopwright/core";
import { z } from "zod";
import { jsonResponse } from "../../request/paced-response.ts";
import { cursorOf } from "../../request/request-cursor.ts";
import type { Route } from "../../request/route.ts";
import { durableEvent } from "../../schemas/index.ts";
import { awaitSeq, type MinSeqQuery, minSeqField } from "../await-seq.ts";
import { withSession } from "../open-session.ts";
import { pageLimitField, readPage } from "../sessions/event-page.ts";

interface RunParams {
  readonly id: string;
  readonly runId: string;
}

/** A page of the run's events. */
interface RunQuery extends MinSeqQuery {
  /** `next` of the page before. */
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

const params: z.ZodType<RunParams> = z.object({ id: z.string(), runId: z.string() });
const query: z.ZodType<RunQuery> = z.object({ after: z.string().optional(), limit: pageLimitField, minSeq: minSeqField });

export const readRunRoute: Route<RunParams, RunQuery> = {
  method: "GET",
  path: "/api/sessions/:id/runs/:runId",
  id: "readRun",
  summary: "The durable events of one run: its turns, model calls and tools with their times.",
  access: "principal",
  action: "session.read",
  params,
  query,
  responses: {
    200: {
      description: "A page of the events in order; `next` where more follow.",
      schema: z.object({ runId: z.string(), events: z.array(durableEvent), next: z.string().optional() }),
    },
    400: { description: "The cursor cannot be read." },
    404: { description: "No such session or run." },
  },
  handle: (call) =>
    withSession(call, call.params.id, async ({ session }) => {
      await awaitSeq(session, call.query.minSeq, call.server);
      const { runId } = call.params;
      const { server, query } = call;
      const after = query.after === undefined || query.after === "" ? undefined : cursorOf(query.after);
      const page = await readPage(session.readRun(runId, after ? { after } : {}), { ...server, limit: query.limit });
      if (page.events.length === 0 && !after) throw new AgentError("RUN_NOT_FOUND", { message: "The session has no run of this id." });
      return jsonResponse({ runId, ...page }, server.clock);
    }),
};
