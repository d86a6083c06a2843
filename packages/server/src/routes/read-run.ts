import { AgentError, readHistory } from "@loopwright/core";
import type { DurableEvent } from "@loopwright/core/protocol";
import { z } from "zod";
import type { Route } from "../http/route.ts";
import { durableEvent } from "../schemas/index.ts";
import { awaitSeq, type MinSeqQuery, minSeqQuery } from "./min-seq.ts";
import { withSession } from "./open-session.ts";

interface RunParams {
  readonly id: string;
  readonly runId: string;
}

const params: z.ZodType<RunParams> = z.object({ id: z.string(), runId: z.string() });

export const readRunRoute: Route<RunParams, MinSeqQuery> = {
  method: "GET",
  path: "/api/sessions/:id/runs/:runId",
  id: "readRun",
  summary: "The durable events of one run: its turns, model calls and tools with their times.",
  access: "principal",
  params,
  query: minSeqQuery,
  responses: {
    200: { description: "The events in order.", schema: z.object({ runId: z.string(), events: z.array(durableEvent) }) },
    404: { description: "No such session or run." },
  },
  handle: (call) =>
    withSession(call, call.params.id, async ({ ref, session }) => {
      await awaitSeq(session, call.query.minSeq, call.scene);
      const { runId } = call.params;
      const events: DurableEvent[] = [];
      for await (const batch of readHistory(call.scene.options.store, ref)) events.push(...batch.filter((event) => event.runId === runId));
      if (events.length === 0) throw new AgentError("RUN_NOT_FOUND", { message: "The session has no run of this id." });
      return Response.json({ runId, events });
    }),
};
