import type { SessionView, ViewAnswer, ViewRun } from "@loopwright/client";
import type { AssistantMessage } from "@loopwright/core/protocol";
import type { ReactNode } from "react";
import { Icon } from "../../app/icon.tsx";
import { PlainText } from "../markdown/plain-text.tsx";
import type { MessageRow } from "../rows/conversation-row.ts";
import { AnswerFoot } from "./answer-foot.tsx";
import { LiveParts, MessageParts } from "./answer-parts.tsx";
import { WorkNote } from "./work-note.tsx";

export interface AnswerMessageProps {
  readonly row: MessageRow;
  readonly message: AssistantMessage;
  readonly calls: SessionView["calls"];
}

/** A message of the model. */
export function AnswerMessage({ row, message, calls }: AnswerMessageProps): ReactNode {
  return (
    <div className="answer">
      <MessageParts name={row.key} message={message} calls={calls} results={row.results} />
      <StopMark message={message} />
      {row.turns.length > 0 ? <AnswerFoot row={row} /> : null}
    </div>
  );
}

/** Why a message ends where nobody expects it. */
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

export interface LiveAnswerProps {
  readonly name: string;
  readonly answer: ViewAnswer;
  readonly run: ViewRun | undefined;
}

/** The message that the model is writing. */
export function LiveAnswer({ name, answer, run }: LiveAnswerProps): ReactNode {
  const isSilent = answer.parts.every((part) => part.type !== "tool_call" && part.text === "");
  return (
    <div className="answer" data-live="">
      <LiveParts name={name} answer={answer} />
      {isSilent || run?.aborting !== undefined ? <WorkNote run={run} since={answer.startedAt} /> : null}
    </div>
  );
}
