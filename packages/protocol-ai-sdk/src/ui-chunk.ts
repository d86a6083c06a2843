import type { Json, JsonObject } from "@loopwright/core/protocol";

/** How an answer ended, in the words of the AI SDK. `interrupted`: the page does not continue it by itself. */
export type UiFinishReason = "stop" | "length" | "tool-calls" | "interrupted";

/** A file of a message. `url` is a `data:` address, one of https, or a path of this server. */
export interface UiFile {
  readonly type: "file";
  readonly mediaType: string;
  readonly url: string;
  readonly filename?: string;
}

/** A text of a message. */
export interface UiText {
  readonly type: "text";
  readonly text: string;
}

/** What the answer of a run shows beside its parts. */
export interface UiMetadata {
  readonly model?: string;
  readonly usage?: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly totalTokens: number;
    readonly cachedInputTokens: number;
    readonly reasoningTokens: number;
  };
}

/** One `data:` line of a UI message stream, version 1: those that a run of ours gives. */
export type UiChunk =
  | { readonly type: "start"; readonly messageId: string }
  | { readonly type: "start-step" | "finish-step" | "reset-step" }
  | { readonly type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; readonly id: string }
  | { readonly type: "text-delta" | "reasoning-delta"; readonly id: string; readonly delta: string }
  | { readonly type: "tool-input-start"; readonly toolCallId: string; readonly toolName: string }
  | { readonly type: "tool-input-delta"; readonly toolCallId: string; readonly inputTextDelta: string }
  | { readonly type: "tool-input-available"; readonly toolCallId: string; readonly toolName: string; readonly input: JsonObject }
  | {
      readonly type: "tool-input-error";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: string;
      readonly errorText: string;
    }
  | { readonly type: "tool-approval-request"; readonly approvalId: string; readonly toolCallId: string; readonly reason?: string }
  | { readonly type: "tool-approval-response"; readonly approvalId: string; readonly approved: boolean; readonly reason?: string }
  | { readonly type: "tool-output-available"; readonly toolCallId: string; readonly output: Json; readonly preliminary?: true }
  | { readonly type: "tool-output-error"; readonly toolCallId: string; readonly errorText: string }
  | { readonly type: "tool-output-denied"; readonly toolCallId: string }
  | { readonly type: "steering-message"; readonly id: string; readonly parts: readonly (UiText | UiFile)[] }
  | UiFile
  | { readonly type: "finish"; readonly finishReason: UiFinishReason; readonly messageMetadata?: UiMetadata }
  | { readonly type: "abort"; readonly reason: string }
  | { readonly type: "error"; readonly errorText: string };
