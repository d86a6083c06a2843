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

/** A window of time, both ends included, in milliseconds since the epoch. */
interface LatencyWindow {
  readonly from: number;
  readonly to: number;
}

/** Sums up records, whatever their order; those outside the window are left out. */
export function latencyReport(records: readonly LatencyRecord[], window: LatencyWindow): LatencyReport {
  const tally = new LatencyTally(window);
  tally.add(records);
  return tally.report();
}

/** What is kept of the turns of one model: numbers alone. */
interface ModelTally {
  readonly provider: string;
  readonly model: string;
  readonly ttftMs: number[];
  readonly turnMs: number[];
  cached: number;
  prompt: number;
}

interface ToolTally {
  readonly durationMs: number[];
  failed: number;
}

/** Sums up records page by page. It keeps some numbers of each, and not the records. */
export class LatencyTally {
  readonly #window: LatencyWindow;
  readonly #models = new Map<string, ModelTally>();
  readonly #tools: { readonly [Side in ToolTiming["side"]]: Map<string, ToolTally> } = { server: new Map(), client: new Map() };
  #turns = 0;

  constructor(window: LatencyWindow) {
    this.#window = window;
  }

  /** The records of the window count, whatever their order. */
  add(records: readonly LatencyRecord[]): void {
    const { from, to } = this.#window;
    for (const record of records) if (record.at >= from && record.at <= to) this.#addTurn(record);
  }

  /** `from`: where the report begins, if some records before it were not added. */
  report({ from }: Pick<LatencyWindow, "from"> = this.#window): LatencyReport {
    return {
      from,
      to: this.#window.to,
      turns: this.#turns,
      models: ascending(this.#models).map(modelLatency),
      tools: { server: toolsOf(this.#tools.server), client: toolsOf(this.#tools.client) },
    };
  }

  #addTurn({ providerName: provider, providerModel: model, ttftMs, turnDurationMs, usage, toolCalls }: LatencyRecord): void {
    this.#turns += 1;
    const own = kept(this.#models, JSON.stringify([provider, model]), () => ({
      ...{ provider, model, ttftMs: [], turnMs: [] },
      ...{ cached: 0, prompt: 0 },
    }));
    own.turnMs.push(turnDurationMs);
    if (ttftMs !== undefined) own.ttftMs.push(ttftMs);
    const { input = 0, cacheRead = 0, cacheWrite = 0 } = usage ?? {};
    own.cached += cacheRead;
    own.prompt += input + cacheRead + cacheWrite;
    for (const { name, side, durationMs, outcome } of toolCalls) {
      const tool = kept(this.#tools[side], name, () => ({ durationMs: [], failed: 0 }));
      tool.durationMs.push(durationMs);
      if (outcome !== "ok") tool.failed += 1;
    }
  }
}

function kept<Value>(all: Map<string, Value>, key: string, create: () => Value): Value {
  const found = all.get(key) ?? create();
  all.set(key, found);
  return found;
}

function modelLatency({ provider, model, ttftMs, turnMs, cached, prompt }: ModelTally): ModelLatency {
  return {
    ...{ provider, model, turns: turnMs.length },
    ttftMs: percentilesOf(ttftMs) ?? null,
    turnDurationMs: percentilesOf(turnMs) ?? { p50: 0, p95: 0, p99: 0 },
    cacheHitRate: prompt > 0 ? cached / prompt : null,
  };
}

const toolsOf = (tools: ReadonlyMap<string, ToolTally>): readonly ToolLatency[] =>
  [...tools]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { durationMs, failed }]) => {
      const { p50, p95 } = percentilesOf(durationMs) ?? { p50: 0, p95: 0 };
      return { name, count: durationMs.length, durationMs: { p50, p95 }, errorRate: failed / durationMs.length };
    });

function percentilesOf(values: readonly number[]): Percentiles | undefined {
  const ascending = values.toSorted((a, b) => a - b);
  const [p50, p95, p99] = [percentile(ascending, 50), percentile(ascending, 95), percentile(ascending, 99)];
  return p50 === undefined || p95 === undefined || p99 === undefined ? undefined : { p50, p95, p99 };
}

/** The values in the order of their keys. */
const ascending = <Value>(all: ReadonlyMap<string, Value>): readonly Value[] =>
  [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
