import type { MessageId } from "@loopwright/core/protocol";
import type { ReactNode } from "react";
import { useWatched } from "../app/use-watched.ts";
import { Conversation } from "../conversation/conversation.tsx";
import type { ConversationActions } from "../conversation/conversation-actions.ts";
import { TracesContext } from "../traces/traces-context.ts";
import { useTraces } from "./child-session.tsx";
import type { FollowedSession } from "./use-open-session.ts";

export interface ConversationPaneProps {
  readonly session: FollowedSession;
  readonly actions: ConversationActions;
  readonly target: MessageId | undefined;
}

/** The messages of a session, as soon as they are known. */
export function ConversationPane({ session, actions, target }: ConversationPaneProps): ReactNode {
  const view = useWatched(session, (state) => state.view);
  const traces = useTraces(session);
  return (
    <div className="conversation-place">
      {view ? (
        <TracesContext value={traces}>
          <Conversation view={view} actions={actions} {...(target === undefined ? {} : { target })} />
        </TracesContext>
      ) : (
        <p className="loading" role="status">
          <span className="spinner" />
          Opening the conversation
        </p>
      )}
    </div>
  );
}
