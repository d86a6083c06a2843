import type { SessionView, ViewAnswer, ViewMessage, ViewRun, ViewVerdict } from "@loopwright/client";
import type { AssistantMessage } from "@loopwright/core/protocol";
import { memo, type ReactNode } from "react";
import { Icon } from "../../app/icon.tsx";
import { useTrace } from "../../traces/traces-context.ts";
import { HookChildren } from "../child-traces.tsx";
import { CompactionLines } from "../compaction-lines.tsx";
import { PlainText } from "../markdown/plain-text.tsx";
import type { MessageRow } from "../rows/conversation-row.ts";
import { VerdictLines } from "../verdict-lines.tsx";
import { AnswerFoot } from "./answer-foot.tsx";
import { keptParts, writtenParts } from "./answer-parts.tsx";
import { WorkNote } from "./work-note.tsx";

/** An answer that is being written, or the message that it became. */
export type AnswerProps = { readonly name: string } & (WrittenAnswer | KeptAnswer);

interface WrittenAnswer {
  readonly answer: ViewAnswer;
  readonly run: ViewRun | undefined;
  /** What hooks changed of it so far. */
  readonly verdicts: readonly ViewVerdict[] | undefined;
}

interface KeptAnswer {
  readonly row: MessageRow;
  readonly message: AssistantMessage;
  readonly calls: SessionView["calls"];
}

/**
 * A message of the model. One component for the answer that is being written and for the message it becomes, so that its elements stay the
 * same then: a selection in it, the focus, and how far its boxes are scrolled.
 */
export const Answer = memo(function Answer(props: AnswerProps): ReactNode {
  if ("answer" in props) {
    const { name, answer, run, verdicts } = props;
    const isSilent = answer.parts.every((part) => part.type !== "tool_call" && part.text === "");
    return (
      <div className="answer" data-live="">
        <VerdictLines name={name} verdicts={verdicts} />
        {writtenParts(name, answer)}
        {isSilent || run?.aborting !== undefined ? <WorkNote run={run} since={answer.startedAt} /> : null}
      </div>
    );
  }
  const { name, row, message, calls } = props;
  return (
    <div className="answer">
      <Before name={name} entry={row.entry} />
      {keptParts({ name, message, calls, results: row.results, report: row.report })}
      <StopMark message={message} />
      {row.turns.length > 0 ? <HookChildren runId={row.entry.runId} /> : null}
      {row.turns.length > 0 ? <AnswerFoot row={row} /> : null}
    </div>
  );
});

/** What stands above a kept message: what was summarised for it, and what hooks changed. */
function Before({ name, entry: { id, runId, verdicts } }: { readonly name: string; readonly entry: ViewMessage }): ReactNode {
  const trace = useTrace(runId);
  return (
    <>
      <CompactionLines compactions={trace?.compactions.get(id)} />
      <VerdictLines name={name} verdicts={verdicts ?? trace?.verdicts.get(id)} />
    </>
  );
}

/** Why a message ends unexpectedly. */
function StopMark({ message: { stopReason, errorMessage } }: { readonly message: AssistantMessage }): ReactNode {
  if (stopReason === "aborted") return <Mark icon="stop" words="Stopped here" />;
  if (stopReason === "length") return <Mark icon="info" words="Cut off: the model reached its length limit" />;
  if (stopReason === "error") return <Mark icon="warning" words={errorMessage ?? "The model could not finish"} />;
  return null;
}

function Mark({ icon, words }: { readonly icon: "stop" | "info" | "warning"; readonly words: string }): ReactNode {
  return (
    <p className="stop-mark" data-kind={icon}>
      <Icon name={icon} />
      <span>
        <PlainText text={words} />
      </span>
    </p>
  );
}
