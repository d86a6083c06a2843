import type { Json, JsonObject } from "@loopwright/core/protocol";
import type { PatchOperation } from "./json-diff.ts";

/** A message of a thread, as AG-UI has it. */
export type AgUiMessage = JsonObject & { readonly id: string };

/** What waits for a person. */
export interface AgUiInterrupt {
  readonly id: string;
  readonly reason: "tool_approval";
  readonly message: string;
  readonly toolCallId?: string;
  /** The agent below the run whose call waits. */
  readonly subagentRunId?: string;
  readonly responseSchema: JsonObject;
  readonly expiresAt?: string;
}

/** Of all model calls of a run. */
export interface AgUiUsage {
  readonly provider?: string;
  readonly model?: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly reasoningTokens: number;
}

export type AgUiOutcome =
  | { readonly type: "success"; readonly pendingToolCallIds?: readonly string[] }
  | { readonly type: "interrupt"; readonly interrupts: readonly AgUiInterrupt[] }
  | { readonly type: "cancelled" };

/** What an agent gives: the agent of the run, or, with `subagentRunId`, one below it. */
type ContentEvent =
  | { readonly type: "STEP_STARTED" | "STEP_FINISHED"; readonly stepName: string }
  | { readonly type: "TEXT_MESSAGE_START"; readonly messageId: string; readonly role: "assistant" | "user" }
  | { readonly type: "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT"; readonly messageId: string; readonly delta: string }
  | { readonly type: "TEXT_MESSAGE_END" | "REASONING_START" | "REASONING_MESSAGE_END" | "REASONING_END"; readonly messageId: string }
  | { readonly type: "REASONING_MESSAGE_START"; readonly messageId: string; readonly role: "reasoning" }
  | { readonly type: "TOOL_CALL_START"; readonly toolCallId: string; readonly toolCallName: string; readonly parentMessageId: string }
  | { readonly type: "TOOL_CALL_ARGS"; readonly toolCallId: string; readonly delta: string }
  | { readonly type: "TOOL_CALL_END"; readonly toolCallId: string }
  | {
      readonly type: "TOOL_CALL_RESULT";
      readonly messageId: string;
      readonly toolCallId: string;
      readonly content: string;
      readonly role: "tool";
    };

/** One `data:` line of AG-UI 1.0: those that a run of ours gives. */
export type AgUiEvent =
  | { readonly type: "RUN_STARTED"; readonly threadId: string; readonly runId: string; readonly protocolVersion: "1.0" }
  | (ContentEvent & { readonly subagentRunId?: string })
  | {
      readonly type: "SUBAGENT_STARTED";
      /** The session of the agent. */
      readonly subagentRunId: string;
      readonly name: string;
      readonly parentSubagentRunId?: string;
      readonly parentToolCallId?: string;
    }
  | {
      readonly type: "SUBAGENT_FINISHED";
      readonly subagentRunId: string;
      readonly outcome?: { readonly type: "suspended"; readonly interruptIds?: readonly string[] };
    }
  | { readonly type: "SUBAGENT_ERROR"; readonly subagentRunId: string; readonly message: string; readonly code: string }
  | { readonly type: "STATE_SNAPSHOT"; readonly snapshot: Json }
  | { readonly type: "STATE_DELTA"; readonly delta: readonly PatchOperation[] }
  | { readonly type: "MESSAGES_SNAPSHOT"; readonly messages: readonly AgUiMessage[] }
  | {
      readonly type: "RUN_FINISHED";
      readonly threadId: string;
      readonly runId: string;
      readonly outcome: AgUiOutcome;
      readonly usage?: readonly AgUiUsage[];
    }
  | { readonly type: "RUN_ERROR"; readonly message: string; readonly code: string };
