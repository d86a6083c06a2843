import type { ViewRun } from "@loopwright/client";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { Icon } from "../app/icon.tsx";
import { ActionsContext } from "./actions-context.ts";
import type { ConversationProps } from "./conversation-actions.ts";
import { FindBar, findFieldId } from "./find/find-bar.tsx";
import { useFindKey } from "./find/use-find-key.ts";
import { FoldContext, type FoldState } from "./fold-state.ts";
import { onPageKey } from "./list/page-keys.ts";
import { RowView } from "./list/row-view.tsx";
import { useAtEnd } from "./list/use-at-end.ts";
import { useMessageList } from "./list/use-message-list.ts";
import { useTarget } from "./list/use-target.ts";
import { useRows } from "./rows/use-rows.ts";
import { WaitingAgentsContext } from "./waiting-agents-context.ts";
import "./conversation.css";

const none: NonNullable<ViewRun["waitingAgents"]> = [];

/** The messages of a session, the answer that is being written among them. */
export function Conversation({ actions, ...rest }: ConversationProps): ReactNode {
  const [folds] = useState<FoldState>(() => new Map());
  return (
    <ActionsContext value={actions}>
      <FoldContext value={folds}>
        <WaitingAgentsContext value={rest.view.run?.waitingAgents ?? none}>
          <Messages {...rest} />
        </WaitingAgentsContext>
      </FoldContext>
    </ActionsContext>
  );
}

function Messages({ view, target }: Omit<ConversationProps, "actions">): ReactNode {
  const rows = useRows(view);
  const { virtualizer, scroller } = useMessageList(rows);
  const marked = useTarget({ target, view, rows, virtualizer });
  const isAtEnd = useAtEnd(scroller, () => virtualizer.scrollToEnd());
  const [isFinding, setFinding] = useState(false);
  useFindKey(
    findFieldId,
    useCallback(() => {
      setFinding(true);
      document.getElementById(findFieldId)?.focus();
    }, []),
  );
  useOwnWords(view.path, () => virtualizer.scrollToEnd());
  return (
    <section className="conversation" aria-label="Conversation">
      {isFinding ? <FindBar rows={rows} virtualizer={virtualizer} scroller={scroller} onClose={() => setFinding(false)} /> : null}
      {/* The answer is read out by the page, sentence by sentence: the log itself keeps silent when rows come into sight. */}
      <div
        ref={scroller}
        className="conversation-scroll"
        role="log"
        aria-live="off"
        aria-label="Messages"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        tabIndex={0}
        onKeyDown={(event) => onPageKey(event, virtualizer)}
      >
        <div ref={virtualizer.containerRef} className="conversation-rows">
          {virtualizer.getVirtualItems().map(({ key, index }) => {
            const row = rows[index];
            return row ? (
              <RowView
                key={key}
                row={row}
                view={view}
                place={index}
                count={rows.length}
                isTarget={row.key === marked}
                measure={virtualizer.measureElement}
              />
            ) : null;
          })}
        </div>
      </div>
      {isAtEnd ? null : (
        <button
          type="button"
          className="to-end"
          aria-label="Jump to latest"
          title="Jump to latest"
          onClick={() => {
            virtualizer.scrollToEnd();
            scroller.current?.focus({ preventScroll: true });
          }}
        >
          <Icon name="down" />
          {view.answer ? <span className="to-end-words">Writing</span> : null}
        </button>
      )}
    </section>
  );
}

/** Acts when the user sent a message here: the sender wants to see the answer. */
function useOwnWords(path: ConversationProps["view"]["path"], act: () => void): void {
  const seen = useRef(path);
  useEffect(() => {
    const tip = path.at(-1);
    const isNew = tip?.message.role === "user" && seen.current.at(-1)?.id !== tip.id && !seen.current.includes(tip);
    seen.current = path;
    if (isNew && document.hasFocus()) act();
  });
}
