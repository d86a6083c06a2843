import type { LatencyRecord, ToolTiming } from "./latency-record.ts";
import { percentile } from "./percentile.ts";

/** Percentiles in milliseconds. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export interface ModelLatency {
  readonly provider: string;
  readonly model: string;
  readonly turns: number;
  /** Of streamed turns. `null`: there was none. */
  readonly ttftMs: Percentiles | null;
  readonly turnDurationMs: Percentiles;
  /** Prompt tokens that were read from the vendor's cache, of all prompt tokens; `null` where no vendor reported any. */
  readonly cacheHitRate: number | null;
}

export interface ToolLatency {
  readonly name: string;
  readonly count: number;
  readonly durationMs: { readonly p50: number; readonly p95: number };
  /** Calls that did not end with a result of the tool, of all. */
  readonly errorRate: number;
}

/** The turns of a window of time. */
export interface LatencyReport {
  readonly from: number;
  readonly to: number;
  readonly turns: number;
  readonly models: readonly ModelLatency[];
  readonly tools: { readonly server: readonly ToolLatency[]; readonly client: readonly ToolLatency[] };
}

/** Sums up records, whatever their order; those outside the window are left out. */
export function latencyReport(
  records: readonly LatencyRecord[],
  { from, to }: { readonly from: number; readonly to: number },
): LatencyReport {
  const within = records.filter(({ at }) => at >= from && at <= to);
  const tools = within.flatMap(({ toolCalls }) => toolCalls);
  const toolsAt = (side: ToolTiming["side"]): readonly ToolLatency[] =>
    groups(
      tools.filter((call) => call.side === side),
      ({ name }) => name,
    ).map(toolLatency);
  return {
    from,
    to,
    turns: within.length,
    models: groups(within, ({ providerName, providerModel }) => JSON.stringify([providerName, providerModel])).map(modelLatency),
    tools: { server: toolsAt("server"), client: toolsAt("client") },
  };
}

function modelLatency(turns: readonly LatencyRecord[]): ModelLatency {
  const [first] = turns as readonly [LatencyRecord, ...LatencyRecord[]];
  const usages = turns.flatMap(({ usage }) => usage ?? []);
  const cached = sum(usages.map(({ cacheRead = 0 }) => cacheRead));
  const prompt = sum(usages.map(({ input = 0, cacheRead = 0, cacheWrite = 0 }) => input + cacheRead + cacheWrite));
  return {
    provider: first.providerName,
    model: first.providerModel,
    turns: turns.length,
    ttftMs: percentilesOf(turns.flatMap(({ ttftMs }) => ttftMs ?? [])) ?? null,
    turnDurationMs: percentilesOf(turns.map(({ turnDurationMs }) => turnDurationMs)) ?? { p50: 0, p95: 0, p99: 0 },
    cacheHitRate: prompt > 0 ? cached / prompt : null,
  };
}

function toolLatency(calls: readonly ToolTiming[]): ToolLatency {
  const { p50, p95 } = percentilesOf(calls.map(({ durationMs }) => durationMs)) ?? { p50: 0, p95: 0 };
  const failed = calls.filter(({ outcome }) => outcome !== "ok").length;
  return { name: calls[0]?.name ?? "", count: calls.length, durationMs: { p50, p95 }, errorRate: failed / calls.length };
}

function percentilesOf(values: readonly number[]): Percentiles | undefined {
  const ascending = values.toSorted((a, b) => a - b);
  const [p50, p95, p99] = [percentile(ascending, 50), percentile(ascending, 95), percentile(ascending, 99)];
  return p50 === undefined || p95 === undefined || p99 === undefined ? undefined : { p50, p95, p99 };
}

/** Items of the same key together, the keys in order. */
function groups<Item>(items: readonly Item[], keyOf: (item: Item) => string): readonly (readonly Item[])[] {
  const found = Map.groupBy(items, keyOf);
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
