import { telemetryRequests, type UsageDimension, type UsageSum } from "@loopwright/client/telemetry";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import { useServices } from "../../app/services.ts";
import { useAnswer } from "../../app/use-answer.ts";
import { countLabel } from "../../conversation/amount-labels.ts";
import { Bar, costLabel, NotThere, ReloadButton, tokenText } from "./figures.tsx";
import { QuotaCards } from "./quota-cards.tsx";

const periods: readonly { readonly days: number; readonly name: string }[] = [
  { days: 1, name: "Today" },
  { days: 7, name: "The last 7 days" },
  { days: 30, name: "The last 30 days" },
  { days: 365, name: "The last year" },
];

const breakdowns: readonly { readonly by: UsageDimension; readonly name: string; readonly column: string }[] = [
  { by: "day", name: "by day", column: "Day" },
  { by: "model", name: "by model", column: "Model" },
  { by: "user", name: "by user", column: "User" },
  { by: "scope", name: "by team", column: "Team" },
  { by: "agent", name: "by agent", column: "Agent" },
];

/** Rows that are drawn; the rest is one row. */
const rowsMax = 100;

/** Tokens and cost of what this person may see: by day, model, user, team or agent. */
export function UsageSection(): ReactNode {
  const { server } = useServices();
  const [days, setDays] = useState(30);
  const [by, setBy] = useState<UsageDimension>("day");
  const telemetry = useMemo(() => telemetryRequests(server), [server]);
  const ask = useCallback((signal: AbortSignal) => telemetry.usage({ by: [by], from: dayBefore(days - 1), signal }), [telemetry, by, days]);
  const { value: sums, error, isLoading, reload } = useAnswer(ask);
  const breakdown = breakdowns.find((one) => one.by === by);

  return (
    <>
      <div className="figure-head">
        <label>
          Period
          <select value={days} onChange={({ target }) => setDays(Number(target.value))}>
            {periods.map((period) => (
              <option key={period.days} value={period.days}>
                {period.name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Shown
          <select value={by} onChange={({ target }) => setBy(target.value as UsageDimension)}>
            {breakdowns.map((one) => (
              <option key={one.by} value={one.by}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
        <ReloadButton isLoading={isLoading} onReload={reload} />
      </div>
      {error ? <NotThere error={error} what="usage and cost" /> : null}
      {sums && !error ? <Sums sums={sums} by={by} column={breakdown?.column ?? ""} /> : null}
      <QuotaCards telemetry={telemetry} />
      <p className="settings-hint">Days are those of UTC.</p>
    </>
  );
}

interface SumsProps {
  readonly sums: readonly UsageSum[];
  readonly by: UsageDimension;
  readonly column: string;
}

function Sums({ sums, by, column }: SumsProps): ReactNode {
  if (sums.length === 0) return <p className="settings-empty">Nothing was spent in this time.</p>;
  const total = sumOf(sums);
  const rows = by === "day" ? sums.toReversed() : sums.toSorted((a, b) => b.costUsd - a.costUsd || tokensOf(b) - tokensOf(a));
  const most = Math.max(...sums.map(({ costUsd }) => costUsd));
  const mostTokens = Math.max(1, ...sums.map(tokensOf));
  const rest = rows.slice(rowsMax);
  return (
    <>
      <dl className="figure-total">
        <div>
          <dt>Cost</dt>
          <dd>{costLabel(total)}</dd>
        </div>
        <div>
          <dt>Read and written</dt>
          <dd>{tokenText(tokensOf(total))}</dd>
        </div>
        <div>
          <dt>Calls</dt>
          <dd>{countLabel(total.calls)}</dd>
        </div>
      </dl>
      <table className="figure-table">
        <caption>Usage and cost</caption>
        <thead>
          <tr>
            <th scope="col">{column}</th>
            <th scope="col">Tokens</th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, rowsMax).map((sum) => (
            <tr key={sum[by] ?? ""}>
              <th scope="row">
                <bdi>{(sum[by] ?? "") === "" ? "unknown" : sum[by]}</bdi>
                <Bar share={most > 0 ? sum.costUsd / most : tokensOf(sum) / mostTokens} />
              </th>
              <td>{tokenText(tokensOf(sum))}</td>
              <td>{costLabel(sum)}</td>
            </tr>
          ))}
          {rest.length === 0 ? null : (
            <tr>
              <th scope="row">{countLabel(rest.length)} more</th>
              <td>{tokenText(tokensOf(sumOf(rest)))}</td>
              <td>{costLabel(sumOf(rest))}</td>
            </tr>
          )}
        </tbody>
      </table>
    </>
  );
}

const tokensOf = ({ input, cacheRead, cacheWrite, output }: UsageSum): number => input + cacheRead + cacheWrite + output;

function sumOf(sums: readonly UsageSum[]): UsageSum {
  const nothing: UsageSum = { calls: 0, input: 0, cacheRead: 0, cacheWrite: 0, output: 0, costUsd: 0, unpricedCalls: 0 };
  return sums.reduce(
    (total, one) => ({
      calls: total.calls + one.calls,
      input: total.input + one.input,
      cacheRead: total.cacheRead + one.cacheRead,
      cacheWrite: total.cacheWrite + one.cacheWrite,
      output: total.output + one.output,
      costUsd: total.costUsd + one.costUsd,
      unpricedCalls: total.unpricedCalls + one.unpricedCalls,
    }),
    nothing,
  );
}

/** The day of UTC so many days ago. */
const dayBefore = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
