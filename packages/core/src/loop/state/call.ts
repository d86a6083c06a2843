import type { ToolCallPart } from "../../message/content.ts";
import type { JsonObject } from "../../message/json.ts";
import type { ApprovalVerdict } from "../fact.ts";
import type { CallRoute } from "../facts/tool-policy.ts";

/**
 * The state of one call of the turn. `pending`: not handled yet; `awaiting_*`: it waits outside of this process, and its next fact may come from any
 * node; `running`: a server tool was started; `done`: it has its one result.
 */
export type CallState = "pending" | "awaiting_approval" | "awaiting_client" | "awaiting_child" | "running" | "done";

export interface Call {
  readonly part: ToolCallPart;
  readonly route: CallRoute;
  readonly state: CallState;
  /** Attempts begun. */
  readonly attempt: number;
  /** True if a former owner started it: the outcome is unknown. */
  readonly inDoubt: boolean;
  /** Seq of its `tool.started`: the lane of its events. */
  readonly lane?: number;
  readonly startedAt?: number;
  /** The arguments as a hook or an approval edited them. */
  readonly args?: JsonObject;
  readonly deadline?: number;
  /** The request for approval. */
  readonly asking?: { readonly argsDigest: string; readonly reason?: string };
  /** `at`: only for a client tool, where it is the time from which the deadline counts. */
  readonly approval?: { readonly decision: ApprovalVerdict; readonly note?: string; readonly at?: number };
  /** The session whose end the call waits for. */
  readonly child?: { readonly session: string; readonly agent: string };
  /** How often the call rested with its child. The tool runs again after each rest. */
  readonly suspensions?: number;
}
