import type { Quota, QuotaAmount, TelemetryRequests } from "@loopwright/client/telemetry";
import { type ReactNode, useCallback } from "react";
import { useServices } from "../../app/services.ts";
import { useAnswer } from "../../app/use-answer.ts";
import { useWatched } from "../../app/use-watched.ts";
import { momentLabel, moneyLabel } from "../../conversation/amount-labels.ts";
import { Bar, tokenText } from "./figures.tsx";

/** What this person and its team may still spend; nothing where there are no limits. */
export function QuotaCards({ telemetry }: { readonly telemetry: TelemetryRequests }): ReactNode {
  const { account } = useServices();
  const hasQuotas = useWatched(account, (access) => access?.extensions?.includes("quotas") === true);
  return hasQuotas ? <Quotas telemetry={telemetry} /> : null;
}

function Quotas({ telemetry }: { readonly telemetry: TelemetryRequests }): ReactNode {
  const { value: quotas = [] } = useAnswer(useCallback((signal: AbortSignal) => telemetry.quotas({ signal }), [telemetry]));
  if (quotas.length === 0) return null;
  return (
    <>
      <h3>Limits</h3>
      <ul className="settings-cards" aria-label="Limits">
        {quotas.map((quota) => (
          <li key={`${quota.account} ${quota.per ?? ""}`} className="figure-card">
            <h4>{titleOf(quota)}</h4>
            {quota.tokens ? <Amount amount={quota.tokens} label={tokenText} /> : null}
            {quota.costUsd ? <Amount amount={quota.costUsd} label={(usd) => moneyLabel({ totalUsd: usd })} /> : null}
            {quota.resetsAt === undefined ? null : <p className="settings-hint">Begins anew on {momentLabel(quota.resetsAt)}</p>}
          </li>
        ))}
      </ul>
    </>
  );
}

function Amount({ amount, label }: { readonly amount: QuotaAmount; readonly label: (amount: number) => string }): ReactNode {
  const { limit, spent, left } = amount;
  const share = limit === 0 ? 1 : spent / limit;
  return (
    <div>
      <p>
        {label(spent)} of {label(limit)} spent or reserved, {label(left)} left
      </p>
      <Bar share={share} kind={share >= 0.9 ? "full" : "cost"} />
    </div>
  );
}

function titleOf({ account, per }: Quota): string {
  const whose = account.startsWith("user/") ? "You" : account.startsWith("scope/") ? "Your team" : account;
  return per === undefined ? whose : `${whose}, each ${per}`;
}
