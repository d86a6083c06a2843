import { type LatencyFigures, type ModelFigures, type ToolFigures, telemetryRequests } from "@loopwright/client/telemetry";
import { type ReactNode, useCallback, useMemo } from "react";
import { useServices } from "../../app/services.ts";
import { useAnswer } from "../../app/use-answer.ts";
import { clockLabel, countLabel, durationLabel } from "../../conversation/amount-labels.ts";
import { NotThere, percentLabel, ReloadButton } from "./figures.tsx";

/** How long turns and tools took in the last 60 minutes. */
export function LatencySection(): ReactNode {
  const { server } = useServices();
  const telemetry = useMemo(() => telemetryRequests(server), [server]);
  const { value, error, isLoading, reload } = useAnswer(useCallback((signal: AbortSignal) => telemetry.latency({ signal }), [telemetry]));
  return (
    <>
      <div className="figure-head">
        <ReloadButton isLoading={isLoading} onReload={reload} />
      </div>
      {error ? <NotThere error={error} what="latency" /> : null}
      {value && !error ? <Report report={value} /> : null}
    </>
  );
}

function Report({ report: { from, to, turns, models, tools } }: { readonly report: LatencyFigures }): ReactNode {
  if (turns === 0) return <p className="settings-empty">No turn has ended in the last 60 minutes.</p>;
  return (
    <>
      <p className="settings-hint">
        {countLabel(turns)} {turns === 1 ? "turn" : "turns"} from {clockLabel(from)} to {clockLabel(to)}
      </p>
      <h3>Models</h3>
      <ul className="settings-cards" aria-label="Models">
        {models.map((one) => (
          <ModelCard key={`${one.provider} ${one.model}`} figures={one} />
        ))}
      </ul>
      <ToolTable title="Tools that the server ran" tools={tools.server} />
      <ToolTable title="Tools that clients ran" tools={tools.client} />
    </>
  );
}

function ModelCard({
  figures: { provider, model, turns, ttftMs, turnDurationMs, cacheHitRate },
}: {
  readonly figures: ModelFigures;
}): ReactNode {
  const rows = [...(ttftMs ? [{ name: "First piece", ...ttftMs }] : []), { name: "Whole turn", ...turnDurationMs }];
  return (
    <li className="figure-card">
      <h4>
        <bdi>{model}</bdi> <span className="settings-hint">{provider}</span>
      </h4>
      <p className="settings-hint">
        {countLabel(turns)} {turns === 1 ? "turn" : "turns"}
        {cacheHitRate === null ? "" : `, ${percentLabel(cacheHitRate)} of the prompt from the vendor's cache`}
      </p>
      <table className="figure-table" aria-label={`Latency of ${model}`}>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">p50</th>
            <th scope="col">p95</th>
            <th scope="col">p99</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, p50, p95, p99 }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{durationLabel(p50)}</td>
              <td>{durationLabel(p95)}</td>
              <td>{durationLabel(p99)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </li>
  );
}

function ToolTable({ title, tools }: { readonly title: string; readonly tools: readonly ToolFigures[] }): ReactNode {
  if (tools.length === 0) return null;
  return (
    <table className="figure-table">
      <caption>{title}</caption>
      <thead>
        <tr>
          <th scope="col">Tool</th>
          <th scope="col">Calls</th>
          <th scope="col">p50</th>
          <th scope="col">p95</th>
          <th scope="col">Failed</th>
        </tr>
      </thead>
      <tbody>
        {tools.map(({ name, count, durationMs, errorRate }) => (
          <tr key={name}>
            <th scope="row">
              <bdi>{name}</bdi>
            </th>
            <td>{countLabel(count)}</td>
            <td>{durationLabel(durationMs.p50)}</td>
            <td>{durationLabel(durationMs.p95)}</td>
            <td>{percentLabel(errorRate)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
