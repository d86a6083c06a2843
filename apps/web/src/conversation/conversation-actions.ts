import type { SessionView, ViewCall } from "@loopwright/client";
import type { ApprovalDecision, DurableEvent, MessageId, RememberRequest } from "@loopwright/core/protocol";

/** A person's answer to a call. */
export interface CallAnswer {
  readonly content: string;
  readonly isError?: boolean;
}

/** A person's decision on a call that awaits approval. */
export interface CallDecision extends Pick<ApprovalDecision, "decision" | "note"> {
  readonly remember?: RememberRequest;
}

/** What the messages of a conversation can ask of the page. The same object for the whole life of an open session, or nearly so. */
export interface ConversationActions {
  /** Sends an edited user message as a branch, with the files it had. Rejects with an AgentError; the text then stays in the editor. */
  edit(id: MessageId, text: string): Promise<void>;
  /** Answers again as a branch: `id` is an answer, or the user message to answer. Failures are shown by the page. */
  regenerate(id: MessageId): Promise<void>;
  /** Shows the branch that contains this message, down to its newest end. */
  selectBranch(id: MessageId): Promise<void>;
  /** Asks how another conversation with the messages up to this one continues, and begins it. */
  fork(id: MessageId): void;
  /** Stops what runs; the partial answer is kept. */
  stop(): void;
  /** Answers a call that waits for this client. Rejects with an AgentError. */
  answerCall(call: ViewCall, answer: CallAnswer): Promise<void>;
  /** Allows or denies a call that awaits approval. Rejects with an AgentError: another person may have been faster. */
  decideCall(call: ViewCall, decision: CallDecision): Promise<void>;
  /** What people call a tool, where the page knows it. */
  toolLabel(name: string): string | undefined;
  /** Opens the waterfall of a run. */
  openRun(runId: string): void;
  /** Where the bytes of a blob are. */
  fileUrl(blob: string): string;
  /** The address of a message within the page, `#/c/<id>/m/<id>`. */
  linkTo(id: MessageId): string;
  /** Puts text on the clipboard and announces it; false where the browser refuses. */
  copy(text: string): Promise<boolean>;
}

/** What the page gives the conversation. `view` changes at most once per animation frame. */
export interface ConversationProps {
  readonly view: SessionView;
  readonly actions: ConversationActions;
  /** The message a deep link names: brought into sight and marked once. */
  readonly target?: MessageId;
}

/** What the page gives the waterfall of a run. */
export interface RunViewProps {
  readonly runId: string;
  /** The view of the session the run belongs to: names, and a sign that there are new events. */
  readonly view: SessionView;
  /** The durable events of the run so far. */
  readonly load: (runId: string, signal: AbortSignal) => Promise<readonly DurableEvent[]>;
  readonly onClose: () => void;
}
