import type { Fact, KeyOwner, Observer, SessionRef } from "@loopwright/core";
import type { LatencyRecord } from "../latency/latency-record.ts";
import { turnObserver } from "../latency/turn-observer.ts";
import type { UsageEntry, UsageStore } from "../usage/usage-entry.ts";
import { usageObserver } from "../usage/usage-observer.ts";
import { counter, histogram } from "./metric.ts";
import type { Labelled } from "./series.ts";

export interface PrometheusOptions {
  /** Adds the label `scope`: then every reader of `/metrics` sees the numbers of each tenant. Default false. */
  readonly withScope?: boolean;
  /** Client tools whose names are labels. Callers choose these names, so every other counts as `client`. */
  readonly clientTools?: readonly string[];
  /** Series of each metric; beyond that they share one, whose labels are `other`. Default 1,000. */
  readonly seriesMax?: number;
}

/** Counts of this process. They begin at zero when it starts, as Prometheus expects. */
export interface PrometheusMetrics {
  readonly observers: readonly Observer[];
  /** The text format of Prometheus: for `metrics` of a server. */
  text(): string;
}

/** Metrics of turns, runs, tokens, cost and tools. */
export function prometheusMetrics(options: PrometheusOptions = {}): PrometheusMetrics {
  const { withScope = false, seriesMax = 1_000, clientTools = [] } = options;
  const of = (name: string, help: string) => ({ name: `loopwright_${name}`, help, seriesMax });
  const turns = counter(of("turns_total", "Turns by provider, model and stop reason."));
  const runs = counter(of("runs_total", "Runs that ended, by status."));
  const failures = counter(of("model_failures_total", "Attempts of model calls that failed, by error code."));
  const tokens = counter(of("tokens_total", "Tokens by provider, model and kind: input, cache_read, cache_write, output."));
  const cost = counter(of("cost_usd_total", "US dollars that model calls cost; calls without a known price are not in it."));
  const unpriced = counter(of("unpriced_calls_total", "Model calls without a known price."));
  const tools = counter(of("tool_calls_total", "Tool calls by tool, side and outcome."));
  const duration = histogram(of("turn_duration_seconds", "Time from the first attempt of a turn to the end of its answer."));
  const firstToken = histogram(
    of("time_to_first_token_seconds", "Time from the first attempt of a streamed turn to the first piece of its answer."),
  );
  const toolDuration = histogram(of("tool_duration_seconds", "Time of tool calls, by tool and side."));

  const labels = (scope: string, more: Labelled): Labelled => (withScope ? { scope, ...more } : more);
  const onTurn = (record: LatencyRecord): void => {
    const { scope, providerName: provider, providerModel: model, keyOwner } = record;
    const called = labels(scope, modelLabels({ provider, model, keyOwner }));
    turns.add({ ...called, stop: record.stopReason });
    duration.observe(called, record.turnDurationMs / 1_000);
    if (record.ttftMs !== undefined) firstToken.observe(called, record.ttftMs / 1_000);
    for (const { name, side, outcome, durationMs } of record.toolCalls) {
      const tool = side === "client" && !clientTools.includes(name) ? "client" : name;
      tools.add(labels(scope, { tool, side, outcome }));
      toolDuration.observe(labels(scope, { tool, side }), durationMs / 1_000);
    }
  };
  const onUsage = (entry: UsageEntry): void => {
    const { input, cacheRead, cacheWrite, output, costNanos } = entry;
    const called = labels(entry.scope, modelLabels(entry));
    const kinds = { input, cache_read: cacheRead, cache_write: cacheWrite, output };
    for (const [kind, count] of Object.entries(kinds)) if (count > 0) tokens.add({ ...called, kind }, count);
    if (costNanos === undefined) unpriced.add(called);
    else cost.add(called, costNanos / 1e9);
  };
  const sink: UsageStore = { add: (entries) => entries.forEach(onUsage), query: async () => [] };
  return {
    observers: [
      turnObserver({ onTurn }),
      usageObserver({ usage: sink }),
      ends({
        runs: (scope, status) => runs.add(labels(scope, { status })),
        failures: (scope, code) => failures.add(labels(scope, { code })),
      }),
    ],
    text() {
      const metrics = [turns, runs, failures, tokens, cost, unpriced, tools, duration, firstToken, toolDuration];
      return `${metrics.flatMap((metric) => metric.lines()).join("\n")}\n`;
    },
  };
}

interface Called {
  readonly provider: string;
  readonly model: string;
  readonly keyOwner?: KeyOwner | undefined;
}

/** Users name the models that their own keys call, and could fill a metric with names: those calls have one label. */
const modelLabels = ({ provider, model, keyOwner = "platform" }: Called): Labelled =>
  keyOwner === "platform" ? { provider, model } : { provider: "own", model: "own" };

interface Ends {
  readonly runs: (scope: string, status: string) => void;
  readonly failures: (scope: string, code: string) => void;
}

function ends({ runs, failures }: Ends): Observer {
  return {
    facts({ scope }: SessionRef, facts: readonly Fact[]) {
      for (const fact of facts) {
        if (fact.type === "run.finished") runs(scope, fact.status);
        else if (fact.type === "model.failed") failures(scope, fact.failure.code);
      }
    },
  };
}
