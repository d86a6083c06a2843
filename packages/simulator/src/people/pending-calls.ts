import type { DurableEvent } from "@loopwright/core";

/** What waits for a person or a client, as far as one client knows. */
export interface PendingCalls {
  /** Client calls that wait for an answer. */
  readonly calls: ReadonlyMap<string, { readonly toolCallId: string; readonly toolName: string }>;
  /** Calls that wait for a decision, with the digest of their arguments. */
  readonly approvals: ReadonlyMap<string, string>;
  /** The run that began last, until its end. */
  readonly openRun: string | undefined;
  take(event: DurableEvent): void;
}

export function createPendingCalls(): PendingCalls {
  const calls = new Map<string, { readonly toolCallId: string; readonly toolName: string }>();
  const approvals = new Map<string, string>();
  let openRun: string | undefined;
  return {
    calls,
    approvals,
    get openRun() {
      return openRun;
    },
    take(event) {
      if (event.type === "run_start") openRun = event.runId;
      else if (event.type === "run_end") {
        openRun = undefined;
        calls.clear();
        approvals.clear();
      } else if (event.type === "awaiting_tool_execution") {
        for (const { callKey, toolCallId, toolName } of event.toolCalls) calls.set(callKey, { toolCallId, toolName });
      } else if (event.type === "approval_requested") approvals.set(event.callKey, event.argsDigest);
      else if (event.type === "approval_decided") approvals.delete(event.callKey);
      else if (event.type === "message_end" && event.message.role === "tool_result" && event.message.callKey !== undefined) {
        calls.delete(event.message.callKey);
        approvals.delete(event.message.callKey);
      }
    },
  };
}
