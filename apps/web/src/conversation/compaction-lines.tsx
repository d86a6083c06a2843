import { type ReactNode, useId } from "react";
import { Icon } from "../app/icon.tsx";
import type { TracedCompaction } from "../traces/trace-of.ts";
import { countLabel, moneyLabel } from "./amount-labels.ts";
import { LongText } from "./calls/long-text.tsx";
import { useFold } from "./fold-state.ts";
import "./verdict-lines.css";

/** That the model is sent a summary in place of older messages, a line each, which opens to the summary. */
export function CompactionLines({ compactions = [] }: { readonly compactions: readonly TracedCompaction[] | undefined }): ReactNode {
  if (compactions.length === 0) return null;
  return (
    <ul className="verdicts" aria-label="Summarised for the model">
      {compactions.map((compaction) => (
        <CompactionLine key={compaction.seq} {...compaction} />
      ))}
    </ul>
  );
}

function CompactionLine({ seq, sessionId, summary, tokensBefore, tokensAfter, cost }: TracedCompaction): ReactNode {
  const [isOpen, setOpen] = useFold(`compaction/${sessionId}/${seq}`);
  const body = useId();
  const sizes =
    tokensBefore === undefined || tokensAfter === undefined ? "" : `: ${countLabel(tokensBefore)} tokens became ${countLabel(tokensAfter)}`;
  return (
    <li className="verdict" data-open={isOpen || undefined}>
      <button type="button" className="verdict-head" aria-expanded={isOpen} aria-controls={body} onClick={() => setOpen(!isOpen)}>
        <Icon name="info" />
        <span className="verdict-line">Older messages were summarised for the model{sizes}</span>
        <Icon name="chevron" />
      </button>
      <div id={body} hidden={!isOpen}>
        {isOpen ? (
          <div className="verdict-details">
            <p className="compaction-note">The messages above stay as they are. From here on the model reads this in their place:</p>
            <LongText text={summary} />
            {cost ? <p className="compaction-note">The summary cost {moneyLabel(cost)}.</p> : null}
          </div>
        ) : null}
      </div>
    </li>
  );
}
