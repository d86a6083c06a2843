import type { SessionHit, SessionSummary } from "@loopwright/core/ports";
import type {
  AcceptedSubmission,
  Failure,
  OpenRun,
  PendingApproval,
  PendingToolCall,
  Retention,
  RunningTool,
  SessionSnapshot,
  Sharing,
  SnapshotMessage,
  WaitingInput,
} from "@loopwright/core/protocol";
import { errorTable } from "@loopwright/core/protocol";
import { z } from "zod";
import { pendingApproval } from "./approval.ts";
import { cost, usage } from "./content.ts";
import { jsonObject, listOf } from "./json.ts";
import { message, userMessage } from "./message.ts";
import { exactly } from "./schema-of-type.ts";

type ErrorCode = keyof typeof errorTable;

/** Every code of an error. */
export const errorCode: z.ZodType<ErrorCode> = exactly<ErrorCode>()(z.enum(Object.keys(errorTable) as [ErrorCode, ...ErrorCode[]]));

const parent = z.string().nullable();
const endedRun = z.object({ runId: z.string(), status: z.enum(["completed", "aborted", "failed"]), reason: z.string() });

/** A call that waits for a result from the client. */
export const pendingToolCall: z.ZodType<PendingToolCall> = exactly<PendingToolCall>()(
  z.object({
    toolCallId: z.string(),
    callKey: z.string(),
    toolName: z.string(),
    args: jsonObject,
    deadline: z.number().exactOptional(),
    session: z.string().exactOptional(),
    agent: z.string().exactOptional(),
  }),
);

/** What a child and its children wait for. */
export const waitingAgent: {
  readonly callKey: z.ZodExactOptional<z.ZodString>;
  readonly session: z.ZodString;
  readonly agent: z.ZodString;
  readonly pendingApprovals: z.ZodType<readonly PendingApproval[]>;
  readonly pendingToolCalls: z.ZodType<readonly PendingToolCall[]>;
} = {
  callKey: z.string().exactOptional(),
  session: z.string(),
  agent: z.string(),
  pendingApprovals: listOf(pendingApproval),
  pendingToolCalls: listOf(pendingToolCall),
};

const failure: z.ZodType<Failure> = exactly<Failure>()(
  z.object({ code: errorCode, message: z.string(), retryable: z.boolean(), retryAfterMs: z.number().exactOptional() }),
);

const snapshotMessage: z.ZodType<SnapshotMessage> = exactly<SnapshotMessage>()(
  z.object({ id: z.string(), parent, runId: z.string().exactOptional(), at: z.number(), message }),
);

const waitingInput: z.ZodType<WaitingInput> = exactly<WaitingInput>()(
  z.object({
    inputId: z.string(),
    runId: z.string(),
    mode: z.enum(["enqueue", "steer", "interrupt", "merge"]),
    message: userMessage.exactOptional(),
    parent: parent.exactOptional(),
  }),
);

const runningTool: z.ZodType<RunningTool> = exactly<RunningTool>()(
  z.object({
    toolCallId: z.string(),
    callKey: z.string(),
    toolName: z.string(),
    args: jsonObject,
    lane: z.number(),
    startedAt: z.number(),
  }),
);

/** How long a session is kept after its last fact. */
export const retention: z.ZodType<Retention> = exactly<Retention>()(z.object({ keepMs: z.number().exactOptional() }));

/** The users that a session is shared with. */
export const sharing: z.ZodType<Sharing> = exactly<Sharing>()(
  z.strictObject({
    scope: z.enum(["viewer", "member"]).exactOptional(),
    users: z.record(z.string().min(1).max(200), z.enum(["viewer", "member", "owner"])).exactOptional(),
  }),
);

const sessionStatus = z.enum(["idle", "running", "waiting", "closed"]);
const waitsFor = listOf(z.enum(["client_tools", "approvals", "children"]));

const openRun: z.ZodType<OpenRun> = exactly<OpenRun>()(
  z.object({
    runId: z.string(),
    provider: z.string(),
    model: z.string(),
    turn: z.number(),
    answering: z.number().exactOptional(),
    tools: listOf(runningTool),
    pendingToolCalls: listOf(pendingToolCall),
    pendingChildren: listOf(
      z.object({ callKey: z.string(), session: z.string(), agent: z.string(), args: jsonObject.exactOptional() }),
    ).exactOptional(),
    pendingApprovals: listOf(pendingApproval).exactOptional(),
    waitingAgents: listOf(z.object(waitingAgent)).exactOptional(),
    aborting: z.string().exactOptional(),
    retry: z.object({ reason: z.string(), until: z.number().exactOptional() }).exactOptional(),
    limit: z.object({ which: z.string(), value: z.number() }).exactOptional(),
    movedHead: parent.exactOptional(),
  }),
);

/** The snapshot of a session: everything that a screen shows of it. */
export const sessionSnapshot: z.ZodType<SessionSnapshot> = exactly<SessionSnapshot>()(
  z.object({
    sessionId: z.string(),
    agent: z.string(),
    title: z.string().exactOptional(),
    metadata: jsonObject.exactOptional(),
    participants: listOf(z.string()).exactOptional(),
    retention: retention.exactOptional(),
    sharing: sharing.exactOptional(),
    hold: z.object({ reason: z.string().exactOptional(), by: z.string().exactOptional(), at: z.number() }).exactOptional(),
    remembered: listOf(
      z.object({
        callKey: z.string(),
        toolName: z.string(),
        decision: z.enum(["allow", "deny"]),
        pattern: jsonObject,
        by: z.string().exactOptional(),
        at: z.number(),
      }),
    ).exactOptional(),
    status: sessionStatus,
    waitsFor: waitsFor.exactOptional(),
    readOnly: z.boolean().exactOptional(),
    createdAt: z.number(),
    updatedAt: z.number(),
    cursor: z.string(),
    messages: listOf(snapshotMessage),
    head: parent,
    waiting: listOf(waitingInput),
    run: openRun.exactOptional(),
    lastRun: endedRun.extend({ failure: failure.exactOptional() }).exactOptional(),
    model: z.string().exactOptional(),
    usage: usage.exactOptional(),
    cost: cost.exactOptional(),
    contextTokens: z.number().exactOptional(),
  }),
);

/** A session in a list. */
export const sessionSummary: z.ZodType<SessionSummary> = exactly<SessionSummary>()(
  z.object({
    id: z.string(),
    agent: z.string(),
    parent: z.string().exactOptional(),
    title: z.string().exactOptional(),
    status: sessionStatus,
    waitsFor: waitsFor.exactOptional(),
    pendingApprovals: z.number().exactOptional(),
    lastRun: z.object({ status: z.enum(["completed", "aborted", "failed"]), reason: z.string() }).exactOptional(),
    createdAt: z.number(),
    updatedAt: z.number(),
    lastSeq: z.number(),
    messageCount: z.number(),
    participants: listOf(z.string()).exactOptional(),
    sharing: sharing.exactOptional(),
    usage: usage.exactOptional(),
    cost: cost.exactOptional(),
    metadata: jsonObject.exactOptional(),
  }),
);

/** A session that a search found. */
export const sessionHit: z.ZodType<SessionHit> = exactly<SessionHit>()(z.object({ session: sessionSummary, excerpt: z.string() }));

/** An input that the log has, and the session it belongs to. */
export interface SubmissionAnswer extends AcceptedSubmission {
  readonly sessionId: string;
  readonly dialect?: string;
}

/** An input that the log has. */
export const acceptedSubmission: z.ZodType<SubmissionAnswer> = exactly<SubmissionAnswer>()(
  z.object({
    sessionId: z.string(),
    runId: z.string(),
    inputId: z.string().exactOptional(),
    seq: z.number(),
    replayed: z.boolean(),
    /** The dialect of the `streamVersion` that the request named. */
    dialect: z.string().exactOptional(),
  }),
);

/** The file of `GET /api/sessions/:id/export?format=json`. */
export interface SessionExport {
  readonly format: "loopwright-session";
  /** The version of the file's shape. */
  readonly version: 1;
  /** Milliseconds since the epoch. */
  readonly exportedAt: number;
  readonly session: SessionSnapshot;
}

/** A session as a file. */
export const sessionExport: z.ZodType<SessionExport> = exactly<SessionExport>()(
  z.object({ format: z.literal("loopwright-session"), version: z.literal(1), exportedAt: z.number(), session: sessionSnapshot }),
);
