import type { AgentSession } from "@loopwright/core";
import type { SessionRef } from "@loopwright/core/ports";
import type { Json, JsonObject } from "@loopwright/core/protocol";
import { z } from "zod";
import { plainOf, underKey } from "../../http/kept-key.ts";
import type { Call, Route } from "../../http/route.ts";
import { type AbortRequest, abortRequest } from "../../schemas/index.ts";
import { idempotencyKeyOf } from "../idempotency-key.ts";
import { withSession } from "../open-session.ts";
import { type SessionParams, sessionParams } from "../session-params.ts";

export const abortRunRoute: Route<SessionParams, unknown, AbortRequest> = {
  method: "POST",
  path: "/api/sessions/:id/abort",
  id: "abortRun",
  summary: "Stops a run of a session: the open one, or the one that `runId` names. What the model has said so far is kept.",
  access: "principal",
  params: sessionParams,
  body: abortRequest,
  bodyOptional: true,
  responses: {
    202: { description: "Whether there was a run to stop.", schema: z.object({ aborting: z.boolean() }) },
    404: { description: "No such session." },
    422: { description: "The `Idempotency-Key` came with another reason or run." },
  },
  handle: (call) =>
    withSession(call, call.params.id, async ({ session, ref }) => {
      const { reason = "stopped", runId } = call.body;
      const isKeyed = idempotencyKeyOf(call.request).idempotencyKey !== undefined;
      // What is noted counts for ever: this node may not have heard yet of the run that is open, and learns of it by asking the log.
      if (isKeyed && runId === undefined) await session.open();
      const note = { runId: runId ?? runOf(session) ?? null };
      const aborting = await underKey(
        call,
        { session: session.id, purpose: `abort/${session.id}`, content: plainOf(call.body), note },
        async (how) => {
          // Sent again, it means the run that was open then, not the one that is open now.
          const meant = isKeyed ? notedRun(how.note) : runId;
          if (isKeyed && meant === undefined) return false;
          const isFirst = await session.abort(reason, { by: call.principal.user, ...(meant === undefined ? {} : { runId: meant }) });
          return isFirst || (how.isRepeat && meant !== undefined && (await wasAsked(call, ref, meant)));
        },
      );
      return Response.json({ aborting }, { status: 202 });
    }),
};

/** Whether the log has a request to stop this run: a run that ended by itself before was not stopped, however often one asks. */
async function wasAsked({ scene }: Call, ref: SessionRef, runId: string): Promise<boolean> {
  const facts = await scene.options.store.log.read(ref);
  return facts.some((fact) => fact.type === "abort.requested" && fact.runId === runId);
}

/** The run that an abort without a name means. */
function runOf(session: AgentSession): string | undefined {
  return session.runId ?? session.snapshot().waiting[0]?.runId;
}

function notedRun(note: Json | undefined): string | undefined {
  const runId = typeof note === "object" && note !== null && !Array.isArray(note) ? (note as JsonObject)["runId"] : undefined;
  return typeof runId === "string" ? runId : undefined;
}
