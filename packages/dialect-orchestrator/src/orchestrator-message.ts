import type { JsonObject } from "@loopwright/core/protocol";

/** Version 1 has plain messages, version 2 gives each the index of the block that it belongs to, and reports progress. */
export type StreamVersion = 1 | 2;

/** One message of the stream. `index` exists in version 2 alone: it never falls in one stream, and orders the blocks of a screen. */
export type OrchestratorMessage = { readonly index?: number } & (
  | TextMessage
  | ReasoningMessage
  | ToolCallsMessage
  | ToolResultMessage
  | ProgressMessage
  | EndMessage
);

/** A piece of text. */
export interface TextMessage {
  readonly type: "text";
  readonly text: string;
  /** True: the text takes the place of all text of this answer. */
  readonly replaces?: true;
}

/** A piece of what the model shows of its reasoning. */
export interface ReasoningMessage {
  readonly type: "reasoning";
  readonly text: string;
}

/** The calls of an answer, before any of them runs. */
export interface ToolCallsMessage {
  readonly type: "toolCalls";
  readonly calls: readonly { readonly toolCallId: string; readonly function: string; readonly args: JsonObject }[];
}

/** First without content, when the tool starts, then its content: in pieces, or as a whole. */
export interface ToolResultMessage {
  readonly type: "toolCallResult";
  readonly toolCallId: string;
  readonly function: string;
  readonly content?: string;
  readonly isError?: true;
  /** The place of the call among those of its answer, from 0; in version 2 alone. */
  readonly toolResultIndex?: number;
}

/** A step, which people watch; in version 2 alone. Every step that started ends. */
export interface ProgressMessage {
  readonly type: "progress";
  readonly id: string;
  readonly title: string;
  readonly icon?: string;
  readonly state: "started" | "updated" | "ended";
  readonly isFailed?: true;
}

/** The run has ended. */
export interface EndMessage {
  readonly type: "end";
  readonly status: "completed" | "failed" | "aborted";
}
