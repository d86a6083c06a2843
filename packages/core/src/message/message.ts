import type { AssistantPart, ResultPart, TextPart, ToolCallPart, UserPart } from "./content.ts";
import type { Json } from "./json.ts";
import type { Cost, Usage } from "./usage.ts";

/**
 * Why a model call ended. `error`: the vendor refused or failed after it had begun to answer; `aborted`: it was stopped on request.
 * Only the list of tool calls decides whether the loop continues; this is for people and results.
 */
export type StopReason = "stop" | "length" | "tool_calls" | "aborted" | "error";

/** The outcome of one tool call. */
export type CallOutcome = "ok" | "error" | "interrupted" | "denied" | "expired" | "aborted";

export interface UserMessage {
  readonly role: "user";
  readonly content: string | readonly UserPart[];
}

export interface AssistantMessage {
  readonly role: "assistant";
  /** In the order the model wrote it; may be empty. */
  readonly content: readonly AssistantPart[];
  readonly stopReason: StopReason;
  /** The vendor's own stop reason, for example `end_turn` or `stop_sequence`. */
  readonly stopReasonRaw?: string;
  /** A message for people when `stopReason` is `error` or `aborted`. */
  readonly errorMessage?: string;
  /** Name of the provider that answered, for example `anthropic`. */
  readonly provider?: string;
  /** The model that answered, as the vendor names it. */
  readonly model?: string;
  readonly usage?: Usage;
  readonly cost?: Cost;
}

/** A step that a tool reported while it ran. */
export interface ProgressStep {
  readonly id: string;
  readonly title: string;
  /** A name of the application, for example `search`. */
  readonly icon?: string;
  readonly state: "open" | "done" | "failed";
}

export interface ToolResultMessage {
  readonly role: "tool_result";
  /** The call's `id` or its `callKey`. */
  readonly toolCallId: string;
  readonly callKey?: string;
  readonly toolName?: string;
  /** The output for the model. */
  readonly content: string | readonly ResultPart[];
  readonly isError?: boolean;
  readonly outcome?: CallOutcome;
  /** Data for the application, which the model never sees. */
  readonly details?: Json;
  /** How long the tool ran; absent for a client tool. */
  readonly durationMs?: number;
  /** The steps of the tool in the order in which they began, none of them open. Absent: it reported none. */
  readonly progress?: readonly ProgressStep[];
}

/** A message of the runtime to the model inside the history, for example about a reached limit. Each provider renders it in its own way. Never from a user. */
export interface NoticeMessage {
  readonly role: "notice";
  readonly text: string;
}

/** One message of a transcript. */
export type Message = UserMessage | AssistantMessage | ToolResultMessage | NoticeMessage;

/** The seq of the message's fact, or `<seq>.<i>` for the i-th message of a fact that has several. */
export type MessageId = string;

/** The text of a message: its text parts joined without a separator, without thinking. */
export function textOf(message: Message): string {
  if (message.role === "notice") return message.text;
  if (typeof message.content === "string") return message.content;
  let text = "";
  // An index reads facts with null in place of the large values, which are in the blob store.
  for (const part of message.content ?? []) if (part?.type === "text") text += part.text ?? "";
  return text;
}

/** The calls of an assistant message, in order. */
export function callsOf(message: AssistantMessage): readonly ToolCallPart[] {
  return message.content.filter((part): part is ToolCallPart => part.type === "tool_call");
}

/** The content as parts, a plain string as one text part. Empty text gives no part. */
export function partsOf<Part>(content: string | readonly (Part | TextPart)[]): readonly (Part | TextPart)[] {
  if (typeof content !== "string") return content;
  return content === "" ? [] : [{ type: "text", text: content }];
}
