import type { MessageId } from "@loopwright/core/protocol";
import type { ReactNode } from "react";
import { useWatched } from "../app/use-watched.ts";
import { Conversation } from "../conversation/conversation.tsx";
import type { ConversationActions } from "../conversation/conversation-actions.ts";
import type { OpenSession } from "./open-session.ts";

export interface ConversationPaneProps {
  readonly session: OpenSession;
  readonly actions: ConversationActions;
  readonly target: MessageId | undefined;
}

/** The messages of a session, as soon as they are known. */
export function ConversationPane({ session, actions, target }: ConversationPaneProps): ReactNode {
  const view = useWatched(session, (state) => state.view);
  return (
    <div className="conversation-place">
      {view ? (
        <Conversation view={view} actions={actions} {...(target === undefined ? {} : { target })} />
      ) : (
        <p className="loading" role="status">
          <span className="spinner" />
          Opening the conversation
        </p>
      )}
    </div>
  );
}
