import type { SessionView } from "@loopwright/client";
import type { MessageId } from "@loopwright/core/protocol";
import { use, useEffect, useRef, useState } from "react";
import { ActionsContext } from "../actions-context.ts";
import type { ConversationRow } from "../rows/conversation-row.ts";
import type { MessageList } from "./use-message-list.ts";

export interface TargetOptions {
  readonly target: MessageId | undefined;
  readonly view: SessionView;
  readonly rows: readonly ConversationRow[];
  readonly virtualizer: MessageList["virtualizer"];
}

/** Brings the message that a link names into sight, once; the key of its row as long as it is marked. */
export function useTarget({ target, view, rows, virtualizer }: TargetOptions): string | undefined {
  const { selectBranch } = use(ActionsContext);
  const [marked, setMarked] = useState<string>();
  const done = useRef<MessageId>(undefined);
  const turned = useRef<MessageId>(undefined);
  useEffect(() => {
    if (target === undefined || done.current === target) return;
    const place = rows.findIndex(
      (row) => row.kind === "message" && (row.entry.id === target || row.results.some(({ id }) => id === target)),
    );
    if (place >= 0) {
      done.current = target;
      setMarked(rows[place]?.key);
      virtualizer.scrollToIndex(place, { align: "start" });
    } else if (view.messages.has(target) && turned.current !== target) {
      // It is on another branch.
      turned.current = target;
      void selectBranch(target);
    }
  }, [target, rows, view.messages, virtualizer, selectBranch]);
  return marked;
}
