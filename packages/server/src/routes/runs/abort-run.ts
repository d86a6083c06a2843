import { AgentError, type AgentSession } from "@loopwright/core";
import type { SessionRef } from "@loopwright/core/ports";
import type { Json, JsonObject } from "@loopwright/core/protocol";
import { z } from "zod";
import type { RequestContext, Route } from "../../request/route.ts";
import { type AbortRequest, abortRequest } from "../../schemas/index.ts";
import { idempotencyKeyOf } from "../idempotency/read-idempotency-key.ts";
import { plainOf, runUnderKey } from "../idempotency/replay-stored-answer.ts";
import { withSession } from "../open-session.ts";
import { type SessionParams, sessionParams } from "../session-params.ts";

export const abortRunRoute: Route<SessionParams, unknown, AbortRequest> = {
  method: "POST",
  path: "/api/sessions/:id/abort",
  id: "abortRun",
  summary: "Stops a run of a session: the open one, or the one that `runId` or the key of its input names. The partial answer is kept.",
  access: "principal",
  action: "session.abort",
  params: sessionParams,
  body: abortRequest,
  bodyOptional: true,
  responses: {
    202: { description: "Whether there was a run to stop.", schema: z.object({ aborting: z.boolean() }) },
    400: { description: "The body names both a run and an input." },
    404: { description: "No such session." },
    422: { description: "The `Idempotency-Key` came with another reason or run." },
  },
  handle: (context) =>
    withSession(context, context.params.id, async ({ session, ref }) => {
      const { reason = "stopped", runId, inputKey } = context.body;
      const { user } = context.principal;
      if (inputKey !== undefined && runId !== undefined)
        throw new AgentError("INPUT_INVALID", {
          message: "The body names both `runId` and `inputKey`, which may be two runs.",
          fix: "Name one of them.",
          details: { field: "inputKey" },
        });
      // The key of an input always names the same run: a repetition needs no note.
      if (inputKey !== undefined) return stopping(await session.abort(reason, { by: user, inputKey }));
      const isKeyed = idempotencyKeyOf(context.request).idempotencyKey !== undefined;
      // The note is permanent and must name the open run, which this node may have to read from the log.
      if (isKeyed && runId === undefined) await session.open();
      const own: NotedAbort = { runId: runId ?? runOf(session) ?? "", afterSeq: session.lastSeq };
      const aborting = await runUnderKey(
        context,
        { session: session.id, purpose: `abort/${session.id}`, content: plainOf(context.body), note: own },
        async (how) => {
          if (!isKeyed) return session.abort(reason, { by: user, ...(runId === undefined ? {} : { runId }) });
          const note = notedAbort(how.note);
          if (note.aborting !== undefined) return note.aborting;
          // A repetition means the run that was open at the first request, not the one that is open now.
          const meant = note.runId;
          const asks = async (): Promise<boolean> =>
            (await session.abort(reason, { by: user, runId: meant })) || wasAsked(context, ref, note);
          const isAsked = meant !== "" && (await asks());
          await how.keep({ ...note, aborting: isAsked });
          return isAsked;
        },
      );
      return stopping(aborting);
    }),
};

const stopping = (aborting: boolean): Response => Response.json({ aborting }, { status: 202 });

/** The record under the key of an abort. */
interface NotedAbort extends JsonObject {
  /** The run to stop; empty for none. */
  readonly runId: string;
  /** The last fact of the log at the first request. */
  readonly afterSeq: number;
  /** The answer; absent if it is unknown whether the first request was carried out. */
  readonly aborting?: boolean;
}

/** The number of facts per read in the search for an abort. */
const searchedAtOnce = 64;

/**
 * True if an abort of the run was recorded since the first request. A run that ended by itself before was not stopped, and a repetition returns the same.
 * Reads the log from the first request to the end of the run.
 */
async function wasAsked({ server }: RequestContext, ref: SessionRef, { runId, afterSeq }: NotedAbort): Promise<boolean> {
  const { log } = server.options.store;
  for (let from = afterSeq + 1; ; from += searchedAtOnce) {
    const facts = await log.read(ref, { from, limit: searchedAtOnce });
    for (const fact of facts) {
      if (fact.type === "abort.requested" && fact.runId === runId) return true;
      if (fact.type === "run.finished" && fact.runId === runId) return false;
    }
    if (facts.length < searchedAtOnce) return false;
  }
}

/** The run that an abort without a run id stops. */
function runOf(session: AgentSession): string | undefined {
  return session.runId ?? session.snapshot().waiting[0]?.runId;
}

function notedAbort(note: Json | undefined): NotedAbort {
  const { runId, afterSeq, aborting } = (note ?? {}) as Partial<NotedAbort>;
  const answered = typeof aborting === "boolean" ? { aborting } : {};
  return { runId: typeof runId === "string" ? runId : "", afterSeq: typeof afterSeq === "number" ? afterSeq : 0, ...answered };
}
