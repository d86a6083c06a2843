import { type ReactNode, useId, useState } from "react";
import { Icon } from "../app/icon.tsx";
import { useServices } from "../app/services.ts";
import { useWatched } from "../app/use-watched.ts";
import { countLabel, moneyLabel, tokensLabel } from "../conversation/amount-labels.ts";
import { BudgetUse, ContextCuts, ContextUse, tracedMax } from "./usage-meters.tsx";
import type { FollowedSession } from "./use-open-session.ts";

/** Tokens and money of the conversation; more on request. */
export function UsageButton({ session }: { readonly session: FollowedSession }): ReactNode {
  const usage = useWatched(session, ({ view }) => view?.usage);
  const cost = useWatched(session, ({ view }) => view?.cost);
  const contextTokens = useWatched(session, ({ view }) => view?.contextTokens);
  const model = useWatched(session, ({ view }) => view?.model);
  const agent = useWatched(session, ({ view }) => view?.agent);
  const { agents } = useServices();
  const card = useWatched(agents, (list) => list.agents.find(({ name }) => name === agent));
  const most = card?.contextTokens?.[model ?? card.model];
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const onToggle = (isShown: boolean): void => {
    setOpen(isShown);
    const path = isShown ? (session.read().view?.path ?? []) : [];
    const runs = new Set(path.flatMap(({ runId }) => runId ?? []));
    for (const runId of [...runs].slice(-tracedMax)) session.traces.want(runId);
  };
  if (!usage && contextTokens === undefined) return null;
  const total = usage?.total ?? (usage?.input ?? 0) + (usage?.cacheRead ?? 0) + (usage?.cacheWrite ?? 0) + (usage?.output ?? 0);
  const rows: readonly (readonly [string, number | undefined])[] = [
    ["Read", usage?.input],
    ["Read from cache", usage?.cacheRead],
    ["Written to cache", usage?.cacheWrite],
    ["Written", usage?.output],
    ["of it reasoning", usage?.reasoning],
  ];
  return (
    <>
      <button type="button" className="usage-button" popoverTarget={id}>
        <Icon name="gauge" />
        <span className="visually-hidden">Usage of this conversation: </span>
        <span>{tokensLabel(total)} tokens</span>
        {cost ? <span className="usage-cost">{moneyLabel(cost)}</span> : null}
      </button>
      <div
        id={id}
        className="usage-panel"
        popover="auto"
        role="dialog"
        aria-label="Usage of this conversation"
        onToggle={({ newState }) => onToggle(newState === "open")}
      >
        <dl>
          {rows.map(([name, tokens]) =>
            tokens === undefined ? null : (
              <div key={name} className="usage-row">
                <dt>{name}</dt>
                <dd>{countLabel(tokens)}</dd>
              </div>
            ),
          )}
          <div className="usage-row total">
            <dt>Tokens in all{usage?.source === "estimated" ? ", estimated" : ""}</dt>
            <dd>{countLabel(total)}</dd>
          </div>
          {contextTokens === undefined ? null : <ContextUse tokens={contextTokens} most={most} />}
          <div className="usage-row">
            <dt>Cost</dt>
            <dd>{cost ? moneyLabel(cost) : "unknown"}</dd>
          </div>
          {model === undefined ? null : (
            <div className="usage-row">
              <dt>Model</dt>
              <dd>{model}</dd>
            </div>
          )}
        </dl>
        {isOpen ? <ContextCuts session={session} /> : null}
        {isOpen && card?.limits ? <BudgetUse session={session} limits={card.limits} tools={card.tools} /> : null}
      </div>
    </>
  );
}
