// How a chat looks. What the pages do with their SDK is in `use-chat` and `ag-ui`.
import { type ReactNode, useEffect, useRef, useState } from "react";
import "./page.css";

interface ShellProps {
  readonly title: string;
  /** What one may send with one click. */
  readonly suggestions: readonly string[];
  readonly isBusy: boolean;
  readonly error: string | undefined;
  readonly onSend: (text: string) => void;
  readonly onStop: () => void;
  readonly children: ReactNode;
  readonly aside?: ReactNode;
}

export const suggestions: readonly string[] = [
  "Use read_sensor for the roses.",
  "Use water_bed for the herbs.",
  "Use choose_bed.",
  "Use plan_beds for the beans.",
  "Use ask_botanist.",
  "Think about roses.",
  "long answer",
  "error",
];

/** A page with a conversation and a field for the next message. */
export function Shell({ title, isBusy, error, onSend, onStop, children, aside, ...more }: ShellProps): ReactNode {
  const [text, setText] = useState("");
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    end.current?.scrollIntoView({ block: "end" });
  });
  const send = (sent: string): void => {
    if (sent.trim() === "" || isBusy) return;
    setText("");
    onSend(sent);
  };
  return (
    <main>
      <header>
        <h1>{title}</h1>
      </header>
      {aside}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard. */}
      <div className="log" role="log" aria-label="Messages" tabIndex={0}>
        {children}
        {isBusy && <p className="busy">The gardener is at work.</p>}
        {error !== undefined && (
          <p className="error" role="alert">
            {error}
          </p>
        )}
        <div ref={end} />
      </div>
      <footer>
        <div className="suggestions">
          {more.suggestions.map((suggestion) => (
            <button key={suggestion} type="button" disabled={isBusy} onClick={() => send(suggestion)}>
              {suggestion}
            </button>
          ))}
        </div>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            send(text);
          }}
        >
          <input
            aria-label="Message"
            autoComplete="off"
            placeholder="Write to the gardener"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          {isBusy ? (
            <button key="stop" type="button" onClick={onStop}>
              Stop
            </button>
          ) : (
            <button key="send" type="submit">
              Send
            </button>
          )}
        </form>
      </footer>
    </main>
  );
}

interface BubbleProps {
  readonly from: "You" | "Answer";
  /** The agent below that has written it. */
  readonly by?: string | undefined;
  readonly children: ReactNode;
}

/** A message of one side. */
export function Bubble({ from, by, children }: BubbleProps): ReactNode {
  return (
    <article aria-label={by ?? from} className={from === "You" ? "mine" : by === undefined ? "theirs" : "theirs below"}>
      {children}
    </article>
  );
}

/** What a model thinks before it answers. */
export function Reasoning({ text }: { readonly text: string }): ReactNode {
  return (
    <details className="reasoning">
      <summary>Reasoning</summary>
      <p>{text}</p>
    </details>
  );
}

interface CallProps {
  readonly name: string;
  readonly input: unknown;
  /** What came of it; `undefined` as long as nothing did. */
  readonly outcome: { readonly text: string; readonly isFailed?: boolean } | undefined;
  readonly children?: ReactNode;
}

/** A call of a tool, and what can be done about it. */
export function Call({ name, input, outcome, children }: CallProps): ReactNode {
  return (
    <section className="call" aria-label={name}>
      <p>
        <code>{name}</code> <span className="input">{input === undefined ? "" : JSON.stringify(input)}</span>
      </p>
      {outcome && <p className={outcome.isFailed ? "failed" : "outcome"}>{outcome.text}</p>}
      {children}
    </section>
  );
}

/** A question whether a call may run. */
export function Approval({
  reason,
  onAnswer,
}: {
  readonly reason: string | undefined;
  readonly onAnswer: (isAllowed: boolean) => void;
}): ReactNode {
  return (
    <div className="question">
      <p>{reason ?? "May it run?"}</p>
      <button type="button" className="allow" onClick={() => onAnswer(true)}>
        Allow
      </button>
      <button type="button" onClick={() => onAnswer(false)}>
        Deny
      </button>
    </div>
  );
}

const beds = ["roses", "herbs", "beans"];

/** The tool `choose_bed`: the page answers it with what the user clicks. */
export function BedChoice({ onChoose }: { readonly onChoose: (bed: string) => void }): ReactNode {
  return (
    <div className="question">
      <p>Which bed?</p>
      {beds.map((bed) => (
        <button key={bed} type="button" onClick={() => onChoose(bed)}>
          {bed}
        </button>
      ))}
    </div>
  );
}
