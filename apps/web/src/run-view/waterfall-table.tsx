import { type CSSProperties, type ReactNode, useId, useState } from "react";
import { countLabel, durationLabel, moneyLabel } from "../conversation/amount-labels.ts";
import { inertText, PlainText } from "../conversation/markdown/plain-text.tsx";
import { timeTicks } from "./time-ticks.ts";
import type { Waterfall, WaterfallBar } from "./waterfall.ts";

const kindWords: { readonly [Kind in WaterfallBar["kind"]]: string } = {
  queue: "Queue",
  turn: "Turn",
  model: "Model call",
  wait: "Wait",
  tool: "Tool",
  client: "Client tool",
  approval: "Approval",
};

const stateWords: { readonly [State in WaterfallBar["state"]]: string } = {
  open: "in progress",
  ok: "done",
  failed: "failed",
  aborted: "stopped",
};

const lastLabelShare = 0.9;

/** The bars of a run, as a table whose last column is drawn. */
export function WaterfallTable({ waterfall }: { readonly waterfall: Waterfall }): ReactNode {
  const { bars, marks, totalMs } = waterfall;
  const [openKey, setOpenKey] = useState<string>();
  // A label at the very end has no room.
  const ticks = timeTicks(totalMs).filter((ms) => ms <= totalMs * lastLabelShare);
  const share = (ms: number): string => `${totalMs === 0 ? 0 : (100 * ms) / totalMs}%`;
  return (
    <div className="waterfall">
      <table aria-label="Steps of the run">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col" className="waterfall-duration">
              Took
            </th>
            <th scope="col">
              <span className="visually-hidden">Along the time</span>
              <span className="waterfall-axis" aria-hidden="true">
                {ticks.map((ms) => (
                  <span key={ms} style={{ insetInlineStart: share(ms) }}>
                    {durationLabel(ms)}
                  </span>
                ))}
              </span>
            </th>
          </tr>
        </thead>
        <tbody>
          {bars.map((bar) => (
            <BarRow
              key={bar.key}
              bar={bar}
              totalMs={totalMs}
              isOpen={openKey === bar.key}
              onToggle={() => setOpenKey(openKey === bar.key ? undefined : bar.key)}
            />
          ))}
        </tbody>
      </table>
      {marks.length === 0 ? null : (
        <ul className="waterfall-marks" aria-label="Moments of the run">
          {marks.map(({ key, atMs, label }) => (
            <li key={key}>
              <span className="waterfall-moment">{durationLabel(atMs)}</span> <PlainText text={label} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface BarRowProps {
  readonly bar: WaterfallBar;
  readonly totalMs: number;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function BarRow({ bar, totalMs, isOpen, onToggle }: BarRowProps): ReactNode {
  const id = useId();
  const { kind, label, depth, startMs, endMs = totalMs, state, attempt, firstTokenMs } = bar;
  const part = (ms: number): string => `${totalMs === 0 ? 0 : (100 * ms) / totalMs}%`;
  const place: CSSProperties = { insetInlineStart: part(startMs), width: `max(2px, ${part(endMs - startMs)})` };
  const facts = factsOf(bar);
  return (
    <>
      <tr data-kind={kind} data-depth={depth} data-state={state}>
        <th scope="row">
          <button
            type="button"
            className="waterfall-label"
            aria-expanded={isOpen}
            aria-controls={id}
            disabled={facts.length === 0}
            onClick={onToggle}
          >
            <span className="waterfall-dot" aria-hidden="true" />
            <span className="visually-hidden">{kind === "turn" ? "" : `${kindWords[kind]}: `}</span>
            <span className="waterfall-name" title={inertText(label)}>
              <PlainText text={label} />
            </span>
            {attempt === undefined ? null : <span className="waterfall-try">try {attempt}</span>}
            <span className="visually-hidden">, {stateWords[state]}</span>
          </button>
        </th>
        <td className="waterfall-duration">{durationLabel(endMs - startMs)}</td>
        <td className="waterfall-track">
          <span className="visually-hidden">from {durationLabel(startMs)}</span>
          <span className="waterfall-bar" style={place} aria-hidden="true">
            {firstTokenMs === undefined || endMs <= startMs ? null : (
              <span className="waterfall-first" style={{ width: `${Math.min(100, (100 * firstTokenMs) / (endMs - startMs))}%` }} />
            )}
          </span>
        </td>
      </tr>
      {isOpen ? (
        <tr id={id} className="waterfall-more">
          <td colSpan={3}>
            <dl>
              {facts.map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>
                    <PlainText text={value} />
                  </dd>
                </div>
              ))}
            </dl>
          </td>
        </tr>
      ) : null}
    </>
  );
}

function factsOf({ note, firstTokenMs, usage, cost, kind }: WaterfallBar): readonly (readonly [string, string])[] {
  const counts: readonly (readonly [string, number | undefined])[] = [
    ["Tokens read", usage?.input],
    ["Read from cache", usage?.cacheRead],
    ["Written to cache", usage?.cacheWrite],
    ["Tokens written", usage?.output],
    ["of it reasoning", usage?.reasoning],
  ];
  return [
    ...(note === undefined ? [] : [[kind === "client" ? "By" : "Why", note] as const]),
    ...(firstTokenMs === undefined ? [] : [["First token after", durationLabel(firstTokenMs)] as const]),
    ...counts.flatMap(([name, count]) => (count === undefined ? [] : [[name, countLabel(count)] as const])),
    ...(cost ? [["Cost", moneyLabel(cost)] as const] : []),
  ];
}
