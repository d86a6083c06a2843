import type { ViewVerdict } from "@loopwright/client";
import { type ReactNode, useId } from "react";
import { Icon } from "../app/icon.tsx";
import { useFold } from "./fold-state.ts";
import { PlainText } from "./markdown/plain-text.tsx";
import "./verdict-lines.css";

export interface VerdictLinesProps {
  /** Names the fold-outs. */
  readonly name: string;
  readonly verdicts: readonly ViewVerdict[] | undefined;
}

/** What hooks of the application changed here, a line each. A change of a request by `prepare` is shown only with a reason. */
export function VerdictLines({ name, verdicts = [] }: VerdictLinesProps): ReactNode {
  const shown = verdicts.filter(({ point, reason }) => point !== "prepare" || reason !== undefined);
  if (shown.length === 0) return null;
  return (
    <ul className="verdicts" aria-label="Changed by hooks">
      {shown.map((verdict, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: verdicts have no other name, and only grow
        <VerdictLine key={place} name={`verdict/${name}/${place}`} verdict={verdict} />
      ))}
    </ul>
  );
}

function VerdictLine({ name, verdict }: { readonly name: string; readonly verdict: ViewVerdict }): ReactNode {
  const { hook, point, action, reason } = verdict;
  const [isOpen, setOpen] = useFold(name);
  const body = useId();
  return (
    <li className="verdict" data-open={isOpen || undefined}>
      <button type="button" className="verdict-head" aria-expanded={isOpen} aria-controls={body} onClick={() => setOpen(!isOpen)}>
        <Icon name="info" />
        <span className="verdict-line">
          <PlainText text={`${hook} (${point}): ${action}${reason === undefined ? "" : `, ${reason}`}`} />
        </span>
        <Icon name="chevron" />
      </button>
      <div id={body} hidden={!isOpen}>
        {isOpen ? <Details verdict={verdict} /> : null}
      </div>
    </li>
  );
}

function Details({ verdict: { hook, point, action, reason, callKey } }: { readonly verdict: ViewVerdict }): ReactNode {
  const entries = [
    ["Hook", hook],
    ["Point", point],
    ["Action", action],
    ["Reason", reason],
    ["Call", callKey],
  ] as const;
  return (
    <dl className="verdict-details">
      {entries.map(([term, text]) =>
        text === undefined ? null : (
          <div key={term}>
            <dt>{term}</dt>
            <dd>
              <PlainText text={text} />
            </dd>
          </div>
        ),
      )}
    </dl>
  );
}
