import type { Notification } from "@loopwright/core/ports";
import type { SessionSnapshot } from "@loopwright/core/protocol";
import { z } from "zod";
import type { StreamEnded } from "../stream/end-stream-without-right.ts";
import type { ExecuteComplete } from "../stream/execution-outcome.ts";
import { pendingApproval } from "./approval.ts";
import { cost, usage } from "./content.ts";
import { json, listOf } from "./json.ts";
import { message } from "./message.ts";
import { problem } from "./problem.ts";
import { exactly } from "./schema-of-type.ts";
import { pendingToolCall, sessionSnapshot } from "./session.ts";

/** The last frame of an execution. */
export const executeComplete: z.ZodType<ExecuteComplete> = exactly<ExecuteComplete>()(
  z.object({
    type: z.literal("execute_complete"),
    status: z.enum(["completed", "awaiting_tool_execution", "aborted", "error"]),
    runId: z.string(),
    pendingToolCalls: listOf(pendingToolCall).exactOptional(),
    pendingApprovals: listOf(pendingApproval).exactOptional(),
    usage: usage.optional(),
    cost: cost.optional(),
    limit: z.object({ which: z.string(), value: z.number() }).exactOptional(),
    error: problem.exactOptional(),
  }),
);

/** What `server.notify` publishes. */
export const notification: z.ZodType<Notification> = exactly<Notification>()(
  z.object({ type: z.string(), to: z.string().exactOptional(), data: json.exactOptional() }),
);

/** Stream frames that are not events of a session. */
export type StreamFrame =
  | { readonly type: "session_start"; readonly sessionId: string }
  | { readonly type: "session_end"; readonly sessionId: string; readonly messages: readonly z.output<typeof message>[] }
  | ExecuteComplete
  | { readonly type: "session_snapshot"; readonly snapshot: SessionSnapshot }
  | { readonly type: "rest"; readonly sessionId: string }
  | { readonly type: "session_hint"; readonly sessionId: string; readonly seq: number }
  | { readonly type: "hints_missed" }
  | StreamEnded
  | { readonly type: "notification"; readonly notification: Notification };

export const streamFrame: z.ZodType<StreamFrame> = exactly<StreamFrame>()(
  z.union([
    z.object({ type: z.literal("session_start"), sessionId: z.string() }),
    z.object({ type: z.literal("session_end"), sessionId: z.string(), messages: listOf(message) }),
    executeComplete,
    z.object({ type: z.literal("session_snapshot"), snapshot: sessionSnapshot }),
    z.object({ type: z.literal("rest"), sessionId: z.string() }),
    z.object({ type: z.literal("stream_ended"), reason: z.enum(["credentials_expired", "access_ended"]) }),
    z.object({ type: z.literal("session_hint"), sessionId: z.string(), seq: z.int() }),
    z.object({ type: z.literal("hints_missed") }),
    z.object({ type: z.literal("notification"), notification }),
  ]),
);
