import { type LoopwrightClient, latestBelow, type SessionView, type ViewCall } from "@loopwright/client";
import type { MessageId, UserMessage } from "@loopwright/core/protocol";
import { newId } from "../composer/new-id.ts";
import type { CallAnswer, CallDecision, ConversationActions } from "../conversation/conversation-actions.ts";
import { questionOf } from "./question-of.ts";

export interface SessionActionsOptions {
  readonly client: LoopwrightClient;
  readonly sessionId: string;
  /** The view of now. */
  readonly view: () => SessionView | undefined;
  /** The model that the person chose for what comes; absent: the agent's. */
  readonly model: () => string | undefined;
  readonly fail: (error: unknown) => void;
  readonly say: (text: string) => void;
  /** Asks how the conversation is forked at the message. */
  readonly openFork: (id: MessageId) => void;
  readonly openRun: (runId: string) => void;
  readonly toolLabel: (name: string) => string | undefined;
}

/** What the messages of an open session can ask for. */
export function createSessionActions(options: SessionActionsOptions): ConversationActions {
  const { client, sessionId, fail, say } = options;
  const chosen = (): { readonly model?: string } => {
    const model = options.model();
    return model === undefined ? {} : { model };
  };
  const notified = async (act: () => Promise<unknown>): Promise<void> => {
    try {
      await act();
    } catch (error) {
      fail(error);
    }
  };
  return {
    async edit(id, text) {
      const edited = options.view()?.messages.get(id);
      if (edited?.message.role !== "user") return;
      const input = withText(edited.message, text);
      await client.sessions.submit(sessionId, input, { ...chosen(), parent: edited.parent, idempotencyKey: newId() });
    },
    regenerate(id) {
      return notified(async () => {
        const view = options.view();
        const regenerate = view && questionOf(view.messages, id);
        if (regenerate === undefined) return;
        await client.sessions.submit(sessionId, { regenerate }, { ...chosen(), idempotencyKey: newId() });
      });
    },
    selectBranch(id) {
      return notified(async () => {
        const view = options.view();
        if (view) await client.sessions.moveHead(sessionId, latestBelow(view, id));
      });
    },
    fork: options.openFork,
    stop() {
      void notified(() => client.sessions.abort(sessionId, "user"));
    },
    async answerCall({ toolCallId, callKey, toolName }: ViewCall, { content, isError }: CallAnswer) {
      const base = { role: "tool_result", toolCallId, callKey, toolName, content } as const;
      await client.sessions.sendResults(sessionId, [isError ? { ...base, isError } : base]);
    },
    async decideCall({ callKey, approval }: ViewCall, decision: CallDecision) {
      const looked = approval ? { argsDigest: approval.argsDigest } : {};
      await client.sessions.decide(sessionId, callKey, { ...decision, ...looked });
    },
    openRun: options.openRun,
    toolLabel: options.toolLabel,
    fileUrl: (blob) => client.fileUrl(blob),
    linkTo: (id: MessageId) => `#/c/${sessionId}/m/${id}`,
    async copy(text) {
      try {
        await navigator.clipboard.writeText(text);
        say("Copied");
        return true;
      } catch {
        // Pages without TLS and refused permissions have no clipboard.
        say("The browser did not allow copying");
        return false;
      }
    },
  };
}

/** The message with other words and the same files. */
function withText(message: UserMessage, text: string): UserMessage {
  if (typeof message.content === "string") return { role: "user", content: text };
  const files = message.content.filter((part) => part.type !== "text");
  return { role: "user", content: files.length === 0 ? text : [{ type: "text", text }, ...files] };
}
