/*
 * Owns: which pending approvals of a scope a caller may decide, in pages that read a bounded number of sessions.
 * Does not own: the approvals (the log of each session), which sessions have some (the index of the store).
 */
import { AgentError, isAgentError } from "@loopwright/core";
import type { SessionSummary } from "@loopwright/core/ports";
import type { ApprovalPage, InboxApproval, PendingApproval } from "@loopwright/core/protocol";
import { z } from "zod";
import { authorize } from "../../permissions/authorize.ts";
import { maySee } from "../../permissions/may-see-session.ts";
import { jsonResponse } from "../../request/paced-response.ts";
import type { RequestContext, Route } from "../../request/route.ts";
import { approvalPage } from "../../schemas/index.ts";
import { pageCursor, placeOf } from "../sessions/page-cursor.ts";
import { readState } from "../sessions/read-state.ts";

interface InboxQuery {
  readonly limit: number;
  readonly before?: string | undefined;
}

const query: z.ZodType<InboxQuery> = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  before: z.string().max(100).optional(),
});

/** The most sessions per request: looked up in the index, and read. */
const [summariesMax, sessionsMax] = [1_000, 50];
/** The most summaries per read of the index. */
const stepMax = 100;
/** Arguments that take more bytes as JSON are left out. */
const argsBytesMax = 8 * 1024;

export const listApprovalsRoute: Route<unknown, InboxQuery> = {
  method: "GET",
  path: "/api/approvals",
  id: "listApprovals",
  summary:
    "The calls in the caller's scope that wait for a decision which the caller may make. Calls of child agents are listed with the session above them.",
  access: "principal",
  action: "approval.list",
  query,
  responses: {
    200: {
      description:
        "By session, the newest change first: the pending approvals of about `limit`, of at most 50 of the 1,000 sessions that follow. `next` where more sessions follow.",
      schema: approvalPage,
    },
    400: { description: "The page cursor cannot be read." },
  },
  handle: async (call) => jsonResponse(await pageOf(call), call.server.clock),
};

async function pageOf(call: RequestContext<unknown, InboxQuery>): Promise<ApprovalPage> {
  const { principal, request, late, server, query: wanted } = call;
  const signal = AbortSignal.any([request.signal, late]);
  const approvals: InboxApproval[] = [];
  const startedAt = server.clock.now();
  let place = wanted.before === undefined ? undefined : placeOf(wanted.before);
  let [seen, read] = [0, 0];
  while (seen < summariesMax) {
    const { index } = server.options.store;
    const summaries = await index.list(principal.scope, { limit: stepMax, signal, ...(place ? { before: place } : {}) });
    for (const summary of summaries) {
      const isSlow = server.clock.now() - startedAt > server.limits.answerMs / 2;
      if (approvals.length >= wanted.limit || read >= sessionsMax || (isSlow && read > 0)) return pageUpTo(approvals, place);
      if (mayWait(summary)) {
        read++;
        approvals.push(...(await approvalsOf(call, summary)));
      }
      seen++;
      place = { updatedAt: summary.updatedAt, id: summary.id };
    }
    if (summaries.length < stepMax) return { approvals };
  }
  return pageUpTo(approvals, place);
}

const pageUpTo = (approvals: readonly InboxApproval[], place: Pick<SessionSummary, "updatedAt" | "id"> | undefined): ApprovalPage => ({
  approvals,
  ...(place ? { next: pageCursor(place) } : {}),
});

/** Looks at the reasons too: summaries of an earlier version count only calls that wait while nothing runs. */
const mayWait = ({ pendingApprovals = 0, waitsFor = [] }: SessionSummary): boolean =>
  pendingApprovals > 0 || waitsFor.some((reason) => reason !== "client_tools");

async function approvalsOf(call: RequestContext, summary: SessionSummary): Promise<readonly InboxApproval[]> {
  const { id, title } = summary;
  if (!(await maySee(call.principal, summary, call.server)) || !(await mayDecide(call, id))) return [];
  try {
    const { snapshot } = await readState(call, id, undefined);
    const pending = snapshot.run?.aborting === undefined ? (snapshot.run?.pendingApprovals ?? []) : [];
    const now = call.server.clock.now();
    return pending
      .filter(({ deadline }) => deadline === undefined || deadline > now)
      .map((approval) => ({ sessionId: id, ...(title === undefined ? {} : { title }), ...shortened(approval) }));
  } catch (error) {
    // Removed meanwhile, or damaged: readers of the session get the error.
    if (isAgentError(error, "SESSION_NOT_FOUND") || isAgentError(error, "SESSION_CORRUPT") || isAgentError(error, "STORE_TOO_NEW"))
      return [];
    throw error;
  }
}

function shortened({ args, ...approval }: PendingApproval): Omit<InboxApproval, "sessionId"> {
  const argsBytes = new TextEncoder().encode(JSON.stringify(args)).length;
  return { ...approval, argsBytes, ...(argsBytes > argsBytesMax ? {} : { args }) };
}

/** True if the caller may read the session and decide its calls. A caller that may not read it does not learn of it here either. */
async function mayDecide({ principal, server }: RequestContext, session: string): Promise<boolean> {
  try {
    for (const action of ["session.read", "session.decide"] as const) await authorize(principal, { action, session }, server);
    return true;
  } catch (error) {
    if (error instanceof AgentError && (error.code === "FORBIDDEN" || error.code === "SESSION_NOT_FOUND")) return false;
    throw error;
  }
}
