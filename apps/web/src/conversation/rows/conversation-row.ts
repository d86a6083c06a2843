import type { ViewMessage } from "@loopwright/client";
import type { MessageId } from "@loopwright/core/protocol";

/** A message of the path as the list shows it. */
export interface MessageRow {
  readonly kind: "message";
  /** The same for an answer that is being written and for the message it becomes. */
  readonly key: string;
  readonly entry: ViewMessage;
  /** Every version of the message, itself included; of an answer with its last message: those of its first one. */
  readonly versions: readonly MessageId[];
  /** Results of the calls that this message asks for, in the order they came. */
  readonly results: readonly ViewMessage[];
  /** It continues the row before. */
  readonly isContinued: boolean;
  /** Where it ends an answer: the model's messages of that answer. Else empty. */
  readonly turns: readonly ViewMessage[];
  /** The user message that the answer answers, where it was sent for that run. */
  readonly question: ViewMessage | undefined;
  /** Of an answer: the last result before it, in the same run, that is a report with citations. */
  readonly report: ViewMessage | undefined;
  /** It is the first one of its day. */
  readonly beginsDay: boolean;
}

/** The answer that is being written; its words come from the view. */
export interface AnswerRow {
  readonly kind: "answer";
  readonly key: string;
  readonly isContinued: boolean;
}

/** A run is open and nothing of it can be seen yet. */
export interface WorkRow {
  readonly kind: "work";
  readonly key: string;
  readonly isContinued: boolean;
}

/** How the last run ended, when it did not end well. */
export interface EndRow {
  readonly kind: "end";
  readonly key: string;
}

/** One item of the list of a conversation. */
export type ConversationRow = MessageRow | AnswerRow | WorkRow | EndRow;
