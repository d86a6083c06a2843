import type { SessionView } from "@loopwright/client";
import { memo, type ReactNode, type Ref } from "react";
import { dayLabel } from "../amount-labels.ts";
import { HookChildren } from "../child-traces.tsx";
import { Answer } from "../messages/answer-message.tsx";
import { Notice } from "../messages/notice.tsx";
import { RunEnd } from "../messages/run-end.tsx";
import { UserMessageView } from "../messages/user-message.tsx";
import { WorkNote } from "../messages/work-note.tsx";
import type { ConversationRow, MessageRow } from "../rows/conversation-row.ts";
import { VerdictLines } from "../verdict-lines.tsx";

export interface RowViewProps {
  readonly row: ConversationRow;
  readonly view: SessionView;
  readonly place: number;
  readonly count: number;
  readonly isTarget: boolean;
  readonly measure: Ref<HTMLElement>;
}

/** One row of the conversation, for eyes and for screen readers. */
export function RowView({ row, view, place, count, isTarget, measure }: RowViewProps): ReactNode {
  const who = speakerOf(row);
  return (
    <article
      ref={measure}
      className="row"
      data-index={place}
      data-kind={row.kind === "message" ? row.entry.message.role : row.kind}
      data-ends={(row.kind === "message" && row.turns.length > 0) || undefined}
      data-target={isTarget || undefined}
      aria-label={who}
      aria-posinset={place + 1}
      aria-setsize={count}
    >
      {row.kind === "message" && row.beginsDay ? (
        <p className="day">
          <span>{dayLabel(row.entry.at, Date.now())}</span>
        </p>
      ) : null}
      {who === "You" || who === "Answer" ? <h2 className="visually-hidden">{who}</h2> : null}
      <Content row={row} view={view} />
    </article>
  );
}

function Content({ row, view }: Pick<RowViewProps, "row" | "view">): ReactNode {
  switch (row.kind) {
    case "message":
      return row.entry.message.role === "assistant" ? (
        <Answer
          name={row.key}
          row={row}
          message={row.entry.message}
          calls={row.entry.message.content.some((part) => part.type === "tool_call") ? view.calls : noCalls}
        />
      ) : (
        <Written row={row} />
      );
    case "answer":
      return view.answer ? <Answer name={row.key} answer={view.answer} run={view.run} verdicts={view.verdicts} /> : null;
    case "work":
      return (
        <>
          <VerdictLines name={row.key} verdicts={view.verdicts} />
          <HookChildren runId={view.run?.runId} />
          <WorkNote run={view.run} />
        </>
      );
    case "end":
      return view.lastRun ? <RunEnd end={view.lastRun} path={view.path} /> : null;
    default:
      return row satisfies never;
  }
}

const noCalls: SessionView["calls"] = new Map();

/** A message of the user or the runtime. */
const Written = memo(function Written({ row }: { readonly row: MessageRow }): ReactNode {
  const { message } = row.entry;
  switch (message.role) {
    case "user":
      return <UserMessageView row={row} message={message} />;
    case "notice":
      return <Notice text={message.text} />;
    default:
      return null;
  }
});

function speakerOf(row: ConversationRow): string {
  if (row.kind === "end") return "How the run ended";
  if (row.kind !== "message") return row.isContinued ? "Answer, continued" : "Answer";
  const { role } = row.entry.message;
  if (role === "user") return "You";
  if (role === "notice") return "Note";
  return row.isContinued ? "Answer, continued" : "Answer";
}
