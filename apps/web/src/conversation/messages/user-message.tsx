import { partsOf, textOf, type UserMessage, type UserPart } from "@loopwright/core/protocol";
import { type ReactNode, use, useState } from "react";
import { Icon } from "../../app/icon.tsx";
import { useTrace } from "../../traces/traces-context.ts";
import { ActionsContext } from "../actions-context.ts";
import { momentLabel } from "../amount-labels.ts";
import { JsonText } from "../calls/long-text.tsx";
import { CopyButton } from "../copy-button.tsx";
import { useFold } from "../fold-state.ts";
import { PlainText } from "../markdown/plain-text.tsx";
import { MediaPart } from "../media-part.tsx";
import type { MessageRow } from "../rows/conversation-row.ts";
import { VerdictLines } from "../verdict-lines.tsx";
import { EditMessage } from "./edit-message.tsx";
import { ForkButton } from "./fork-button.tsx";
import { VersionSwitch } from "./version-switch.tsx";

export interface UserMessageProps {
  readonly row: MessageRow;
  readonly message: UserMessage;
}

/** A message of the user, as it was typed. */
export function UserMessageView({ row, message }: UserMessageProps): ReactNode {
  const [isEdited, setEdited] = useState(false);
  const { linkTo, copy, fork } = use(ActionsContext);
  const { id, at, runId } = row.entry;
  const trace = useTrace(runId);
  const text = textOf(message);
  const others = partsOf<UserPart>(message.content).filter((part) => part.type !== "text");
  if (isEdited) return <EditMessage id={id} text={text} onDone={() => setEdited(false)} />;
  return (
    <div className="user-message">
      {others.length === 0 ? null : (
        <div className="user-media">
          {others.map((part, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other name
            <Other key={i} part={part} />
          ))}
        </div>
      )}
      {text === "" ? null : <Words id={id} text={text} />}
      <VerdictLines name={id} verdicts={row.entry.verdicts ?? trace?.verdicts.get(id)} />
      <div className="message-foot user-foot">
        <VersionSwitch id={id} versions={row.versions} />
        <span className="message-actions">
          <CopyButton label="Copy message" text={text} />
          <button
            type="button"
            className="icon-button small"
            aria-label="Copy link to this message"
            title="Copy link to this message"
            onClick={() => void copy(new URL(linkTo(id), document.baseURI).href)}
          >
            <Icon name="link" />
          </button>
          <button
            type="button"
            className="icon-button small"
            aria-label="Edit message"
            title="Edit message"
            onClick={() => setEdited(true)}
          >
            <Icon name="edit" />
          </button>
          <ForkButton onFork={() => fork(id)} />
          <time className="message-time" dateTime={new Date(at).toISOString()}>
            {momentLabel(at)}
          </time>
        </span>
      </div>
    </div>
  );
}

function Other({ part }: { readonly part: Exclude<UserPart, { type: "text" }> }): ReactNode {
  return part.type === "json" ? <JsonText value={part.value} /> : <MediaPart part={part} />;
}

const longCharacters = 1600;
const longLines = 16;

function Words({ id, text }: { readonly id: string; readonly text: string }): ReactNode {
  const [isWhole, setWhole] = useFold(`words/${id}`);
  const isLong = text.length > longCharacters || text.split("\n", longLines + 1).length > longLines;
  return (
    <div className="bubble">
      <div className="bubble-words" dir="auto" data-cut={(isLong && !isWhole) || undefined}>
        <PlainText text={text} />
      </div>
      {isLong ? (
        <button type="button" className="bubble-more" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Show less" : "Show all"}
        </button>
      ) : null}
    </div>
  );
}
