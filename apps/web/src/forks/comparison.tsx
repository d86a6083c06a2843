import { type SessionView, viewOf } from "@loopwright/client";
import { type ReactNode, useCallback, useId, useState } from "react";
import { ProblemNote } from "../app/problem-note.tsx";
import { useServices } from "../app/services.ts";
import { useAnswer } from "../app/use-answer.ts";
import { PlainText } from "../conversation/markdown/plain-text.tsx";
import { ScrollBox } from "../conversation/scroll-box.tsx";
import { titleOf } from "../conversation/title-of.ts";
import { differenceOf, type PlacedMessage, wordsOf } from "./conversation-difference.ts";
import "./forks.css";

export interface ComparisonProps {
  readonly sessionId: string;
  readonly view: SessionView;
  /** Called when a message is to be shown in its conversation. */
  readonly onShow: () => void;
}

/** How many conversations are offered. */
const offeredMax = 100;

/** A choice of another conversation, at first the one that this one is a fork of, and where the two part. */
export function Comparison({ sessionId, view, onShow }: ComparisonProps): ReactNode {
  const { client } = useServices();
  const source = sourceOf(view);
  const [chosen, setChosen] = useState<string>();
  const listed = useAnswer(
    useCallback((signal) => client.sessions.list({ limit: offeredMax, signal }).then(({ sessions }) => sessions), [client]),
  );
  const offered = listed.value?.filter(({ id }) => id !== sessionId) ?? [];
  const other = chosen ?? source ?? offered[0]?.id;
  const isUnlisted = source !== undefined && offered.every(({ id }) => id !== source);
  return (
    <div className="comparison">
      <label>
        With
        <select className="field" data-focus value={other ?? ""} onChange={({ target }) => setChosen(target.value)}>
          {isUnlisted ? <option value={source}>{source}</option> : null}
          {offered.map(({ id, title }) => (
            <option key={id} value={id}>
              {`${title ?? id}${id === source ? " (this one is its fork)" : ""}`}
            </option>
          ))}
        </select>
      </label>
      {listed.error ? <ProblemNote error={listed.error} /> : null}
      {other === undefined ? (
        listed.isLoading ? (
          <span className="spinner" />
        ) : (
          <p className="dialog-text">There is no other conversation.</p>
        )
      ) : (
        <Parting key={other} sessionId={sessionId} view={view} other={other} onShow={onShow} />
      )}
    </div>
  );
}

function sourceOf({ metadata }: SessionView): string | undefined {
  const from = metadata?.["forkedFrom"];
  if (typeof from !== "object" || from === null || Array.isArray(from)) return undefined;
  const { session } = from as { readonly session?: unknown };
  return typeof session === "string" ? session : undefined;
}

function Parting({ sessionId, view, other, onShow }: ComparisonProps & { readonly other: string }): ReactNode {
  const { client } = useServices();
  const { value, error } = useAnswer(useCallback((signal) => client.sessions.get(other, { signal }).then(viewOf), [client, other]));
  if (error) return <ProblemNote error={error} />;
  if (!value) return <span className="spinner" />;
  const difference = differenceOf(view.path, value.path);
  if (!difference) return <p role="status">The conversations are equal: {countOf(view.path.length)}.</p>;
  const { equal, one, other: theirs } = difference;
  return (
    <>
      <p role="status">
        {equal === 0 ? "They differ from the beginning." : `The first ${countOf(equal)} are equal. They differ at message ${equal + 1}.`}
      </p>
      <div className="comparison-sides">
        <Side title="This conversation" sessionId={sessionId} message={one} onShow={onShow} />
        <Side title={titleOf(value)} sessionId={other} message={theirs} onShow={onShow} />
      </div>
    </>
  );
}

const countOf = (count: number): string => (count === 1 ? "1 message" : `${count} messages`);

const roles = { user: "Question", assistant: "Answer", tool_result: "Result of a tool", notice: "Notice" } as const;

interface SideProps extends Pick<ComparisonProps, "onShow"> {
  readonly title: string;
  readonly sessionId: string;
  readonly message: PlacedMessage | undefined;
}

function Side({ title, sessionId, message, onShow }: SideProps): ReactNode {
  const id = useId();
  return (
    <section className="comparison-side" aria-labelledby={id}>
      <h3 id={id} title={title}>
        {title}
      </h3>
      {message ? (
        <>
          <p className="comparison-role">
            {roles[message.message.role]} ·{" "}
            <a href={`#/c/${sessionId}/m/${message.id}`} onClick={onShow}>
              Show it there
            </a>
          </p>
          <ScrollBox label={`Message of: ${title}`} className="comparison-words" dir="auto">
            <PlainText text={wordsOf(message.message)} />
          </ScrollBox>
        </>
      ) : (
        <p className="comparison-role">It ends here.</p>
      )}
    </section>
  );
}
