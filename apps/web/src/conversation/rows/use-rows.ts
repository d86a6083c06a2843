import type { SessionView } from "@loopwright/client";
import { useMemo, useRef } from "react";
import type { ConversationRow, MessageRow } from "./conversation-row.ts";
import { type LastRow, lastRow } from "./last-row.ts";
import { messageRows } from "./message-rows.ts";

interface Drawn extends Pick<SessionView, "path" | "children"> {
  readonly openRunId: string | undefined;
  readonly rows: readonly MessageRow[];
}

/** The rows of a view. The same array while only the words of the answer change. */
export function useRows(view: SessionView): readonly ConversationRow[] {
  const drawn = useRef<Drawn>(undefined);
  const openRunId = view.run?.runId;
  const before = drawn.current;
  // Of the view only these three count here, and the view is another one with each delta.
  if (!before || before.path !== view.path || before.children !== view.children || before.openRunId !== openRunId)
    drawn.current = { path: view.path, children: view.children, openRunId, rows: messageRows(view, before?.rows ?? []) };
  const messages = drawn.current?.rows ?? [];

  const last = useRef<LastRow>(undefined);
  const now = lastRow(view);
  if (!isSame(last.current, now)) last.current = now;
  const end = last.current;
  return useMemo(() => (end ? [...messages, end] : messages), [messages, end]);
}

function isSame(a: LastRow | undefined, b: LastRow | undefined): boolean {
  return a?.key === b?.key && a?.kind === b?.kind && continued(a) === continued(b);
}

const continued = (row: LastRow | undefined): boolean => row !== undefined && "isContinued" in row && row.isContinued;
