import type { AgentCard, AgentLimits } from "@loopwright/client";
import type { ReactNode } from "react";
import { useWatched } from "../app/use-watched.ts";
import { countLabel, moneyLabel, tokensLabel } from "../conversation/amount-labels.ts";
import { PlainText } from "../conversation/markdown/plain-text.tsx";
import { type LimitUse, lastRunOf, runUse } from "./run-use.ts";
import type { FollowedSession } from "./use-open-session.ts";

/** Runs whose traces are asked for when the panel opens, the last ones. */
export const tracedMax = 20;

/** How full the model's window is, where its size is known. */
export function ContextUse({ tokens, most }: { readonly tokens: number; readonly most: number | undefined }): ReactNode {
  return (
    <div className="usage-row context-use">
      <dt>In the context now</dt>
      <dd>
        {countLabel(tokens)}
        {most === undefined ? null : ` of ${tokensLabel(most)} (${Math.ceil((tokens / most) * 100)} %)`}
      </dd>
      {most === undefined ? null : (
        <dd className="context-meter">
          <meter aria-label="Use of the context" min={0} max={most} high={most * 0.8} value={Math.min(tokens, most)} />
        </dd>
      )}
    </div>
  );
}

/** What models are no longer sent of the conversation: summaries in place of messages, and what was shortened. */
export function ContextCuts({ session }: { readonly session: FollowedSession }): ReactNode {
  const traces = useWatched(session.traces, (known) => known);
  const all = [...traces.values()];
  const compactions = all.flatMap((trace) => [...trace.compactions.values()].flat());
  const cuts = all.flatMap((trace) =>
    [...trace.verdicts.values()].flat().filter(({ hook, action }) => hook === "context" && action.startsWith("cut")),
  );
  const last = compactions.at(-1);
  if (!last && cuts.length === 0) return null;
  const sizes =
    last?.tokensBefore === undefined || last.tokensAfter === undefined
      ? ""
      : `, the last time ${countLabel(last.tokensBefore)} tokens to ${countLabel(last.tokensAfter)}`;
  return (
    <div className="usage-more">
      <h2>Left out of the context</h2>
      <ul aria-label="Left out of the context">
        {last ? (
          <li>
            Older messages summarised {compactions.length === 1 ? "once" : `${countLabel(compactions.length)} times`}
            {sizes}
          </li>
        ) : null}
        {cuts.map(({ reason, runId }, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: cuts have no other name, and only grow
          <li key={`${runId}/${place}`}>
            <PlainText text={reason ?? "Results were shortened."} />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface BudgetUseProps extends Pick<AgentCard, "tools"> {
  readonly session: FollowedSession;
  readonly limits: AgentLimits;
}

/** How much of its limits the last run has used. */
export function BudgetUse({ session, limits, tools }: BudgetUseProps): ReactNode {
  const view = useWatched(session, (state) => state.view);
  const runId = view && lastRunOf(view);
  const trace = useWatched(session.traces, (known) => (runId === undefined ? undefined : known.get(runId)));
  if (!view || runId === undefined) return null;
  const uncounted = new Set(tools.filter(({ counts }) => counts === false).map(({ name }) => name));
  const uses = runUse(view, runId, { limits, trace, uncounted });
  if (uses.length === 0) return null;
  return (
    <div className="usage-more">
      <h2>{view.run ? "Limits of the answer under way" : "Limits of the last answer"}</h2>
      <dl>
        {uses.map((use) => (
          <div key={use.name} className="usage-row context-use">
            <dt>{use.name}</dt>
            <dd>
              {labelOf(use, use.used)} of {labelOf(use, use.most)}
            </dd>
            <dd className="context-meter">
              <meter
                aria-label={`Use of the limit: ${use.name}`}
                min={0}
                max={use.most}
                high={use.most * 0.8}
                value={Math.min(use.used, use.most)}
              />
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

const labelOf = ({ name }: LimitUse, amount: number): string => (name === "Cost" ? moneyLabel({ totalUsd: amount }) : countLabel(amount));
