import { type ReactNode, useEffect, useMemo, useRef } from "react";
import { Icon } from "../app/icon.tsx";
import { ProblemNote } from "../app/problem-note.tsx";
import { durationLabel, momentLabel, moneyLabel, tokensIn, tokensLabel } from "../conversation/amount-labels.ts";
import type { RunViewProps } from "../conversation/conversation-actions.ts";
import { PlainText } from "../conversation/markdown/plain-text.tsx";
import { useRunEvents } from "./use-run-events.ts";
import type { Waterfall } from "./waterfall.ts";
import { waterfallOf } from "./waterfall-of.ts";
import { WaterfallTable } from "./waterfall-table.tsx";
import "./run-view.css";

const statusWords: { readonly [Status in Waterfall["status"]]: string } = {
  open: "Running",
  completed: "Completed",
  aborted: "Stopped",
  failed: "Failed",
};

/** How an answer was made: the turns, model calls and tools of a run along its time. */
export function RunView({ onClose, ...asked }: RunViewProps): ReactNode {
  const { events, error, retry } = useRunEvents(asked);
  const waterfall = useMemo(() => (events ? waterfallOf(events) : undefined), [events]);
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  return (
    <div className="run-view">
      <header className="run-head">
        <h2 ref={title} tabIndex={-1}>
          How this answer was made
        </h2>
        <button type="button" className="icon-button" aria-label="Close the run" title="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {error ? (
        <ProblemNote error={error}>
          <button type="button" className="button small" onClick={retry}>
            Try again
          </button>
        </ProblemNote>
      ) : null}
      {waterfall ? (
        <>
          <Summary waterfall={waterfall} />
          <WaterfallTable waterfall={waterfall} />
        </>
      ) : events ? (
        <p className="run-empty">Nothing is known of this run.</p>
      ) : error ? null : (
        <p className="run-empty" role="status">
          <span className="spinner" /> Reading the run
        </p>
      )}
    </div>
  );
}

function Summary({ waterfall }: { readonly waterfall: Waterfall }): ReactNode {
  const { status, totalMs, usage, cost, model, provider, startedAt, runId, error } = waterfall;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["Status", statusWords[status]],
    ["Time", durationLabel(totalMs)],
    ["Tokens", usage ? tokensLabel(tokensIn(usage)) : undefined],
    ["Cost", cost ? moneyLabel(cost) : undefined],
    ["Model", model === undefined ? undefined : provider === undefined ? model : `${model} (${provider})`],
    ["Began", momentLabel(startedAt)],
    ["Run", runId],
  ];
  return (
    <>
      <dl className="run-facts" data-status={status}>
        {facts.map(([name, value]) =>
          value === undefined ? null : (
            <div key={name} data-fact={name.toLowerCase()}>
              <dt>{name}</dt>
              <dd>
                <PlainText text={value} />
              </dd>
            </div>
          ),
        )}
      </dl>
      {error ? (
        <p className="run-error">
          <PlainText text={error.message} /> <span className="problem-code">{error.code}</span>
        </p>
      ) : null}
    </>
  );
}
