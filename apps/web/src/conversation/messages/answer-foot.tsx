import { textOf } from "@loopwright/core/protocol";
import { type ReactNode, use, useId, useMemo } from "react";
import { Icon } from "../../app/icon.tsx";
import { ActionsContext } from "../actions-context.ts";
import { clockLabel, countLabel, durationLabel, momentLabel, moneyLabel, tokensIn, tokensLabel } from "../amount-labels.ts";
import { CopyButton } from "../copy-button.tsx";
import { useFold } from "../fold-state.ts";
import { inertText } from "../markdown/plain-text.tsx";
import type { MessageRow } from "../rows/conversation-row.ts";
import { type AnswerFigures, figuresOf } from "./answer-figures.ts";
import { ForkButton } from "./fork-button.tsx";
import { VersionSwitch } from "./version-switch.tsx";

/** What can be done with an answer, and what it took. */
export function AnswerFoot({ row }: { readonly row: MessageRow }): ReactNode {
  const { regenerate, openRun, fork } = use(ActionsContext);
  const { entry, turns, question } = row;
  const [isOpen, setOpen] = useFold(`figures/${entry.id}`);
  const details = useId();
  const figures = useMemo(() => figuresOf(turns, question), [turns, question]);
  const summary = summaryOf(figures, entry.at);
  const first = turns[0] ?? entry;
  const { runId } = entry;
  const text = turns
    .map(({ message }) => textOf(message).trim())
    .filter((words) => words !== "")
    .join("\n\n");
  return (
    <>
      <div className="message-foot">
        <VersionSwitch id={first.id} versions={row.versions} />
        <span className="message-actions">
          {text === "" ? null : <CopyButton label="Copy answer" text={text} />}
          <button
            type="button"
            className="icon-button small"
            aria-label="Answer again"
            title="Answer again"
            onClick={() => void regenerate(first.id)}
          >
            <Icon name="again" />
          </button>
          <ForkButton onFork={() => fork(entry.id)} />
          {runId === undefined ? null : (
            <button
              type="button"
              className="icon-button small"
              aria-label="Show how this was made"
              title="Show how this was made"
              onClick={() => openRun(runId)}
            >
              <Icon name="timeline" />
            </button>
          )}
        </span>
        <button type="button" className="message-figures" aria-expanded={isOpen} aria-controls={details} onClick={() => setOpen(!isOpen)}>
          <span className="visually-hidden">Figures of this answer: </span>
          {summary.map(([name, words]) => (
            <span key={name} data-figure={name}>
              {words}
            </span>
          ))}
        </button>
      </div>
      <dl id={details} className="figures" hidden={!isOpen}>
        {isOpen
          ? detailsOf(figures, entry.at).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))
          : null}
      </dl>
    </>
  );
}

function summaryOf({ model, usage, cost, durationMs }: AnswerFigures, at: number): readonly (readonly [string, string])[] {
  return [
    ...(model === undefined ? [] : [["model", inertText(model)] as const]),
    ["clock", clockLabel(at)],
    ...(durationMs === undefined ? [] : [["duration", durationLabel(durationMs)] as const]),
    ...(usage ? [["tokens", `${tokensLabel(tokensIn(usage))} tokens`] as const] : []),
    ...(cost ? [["cost", moneyLabel(cost)] as const] : []),
  ];
}

function detailsOf(figures: AnswerFigures, at: number): readonly (readonly [string, string])[] {
  const { model, turns, usage, cost, durationMs, firstTokenMs, speed } = figures;
  const counts: readonly (readonly [string, number | undefined])[] = [
    ["Tokens read", usage?.input],
    ["Read from cache", usage?.cacheRead],
    ["Written to cache", usage?.cacheWrite],
    ["Tokens written", usage?.output],
    ["of it reasoning", usage?.reasoning],
  ];
  return [
    ...(model === undefined ? [] : [["Model", inertText(model)] as const]),
    ["Time", momentLabel(at)],
    ...(turns > 1 ? [["Turns", countLabel(turns)] as const] : []),
    ...counts.flatMap(([name, count]) => (count === undefined ? [] : [[name, countLabel(count)] as const])),
    ["Cost", cost ? moneyLabel(cost) : "unknown"],
    ...(durationMs === undefined ? [] : [["Duration", durationLabel(durationMs)] as const]),
    ...(firstTokenMs === undefined ? [] : [["First token after", durationLabel(firstTokenMs)] as const]),
    ...(speed === undefined ? [] : [["Speed", `${countLabel(Math.round(speed))} tokens/s`] as const]),
  ];
}
