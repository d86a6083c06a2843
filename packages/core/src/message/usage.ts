/**
 * Tokens of one model call or a sum of calls. The four counts do not overlap: everything read is
 * `input + cacheRead + cacheWrite`, everything written is `output`. Counts that the vendor did not report are absent, never 0.
 */
export interface Usage {
  /** Prompt tokens read at full price. */
  readonly input?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Everything written, reasoning included. */
  readonly output?: number;
  /** The part of `output` that was reasoning. */
  readonly reasoning?: number;
  /** As the vendor reports it, or the sum of the known counts. */
  readonly total?: number;
  /** Names of the tools that used the tokens by themselves; absent for a model call of the run, and for sums. */
  readonly tools?: readonly string[];
  /** `estimated` if at least one summand is. Default `reported`. */
  readonly source?: "reported" | "estimated";
}

/** Money, in US dollars. Absent anywhere means unknown, never free. */
export interface Cost {
  readonly totalUsd: number;
  /** True when at least one summand had no known price, or tokens that the vendor did not count, so the true cost differs. */
  readonly partial?: boolean;
}

/** Usage of models that user code has called itself. `cost`: its cost, if known; otherwise the agent's prices give it, if `provider` and `model` are set. */
export interface SpentUsage extends Usage {
  readonly provider?: string;
  readonly model?: string;
  readonly cost?: Cost;
}

const counts = ["input", "cacheRead", "cacheWrite", "output", "reasoning", "total"] as const;

/** No call has more tokens. */
const tokensMax = 1e9;

/** Keeps only counts that can be true: whole, not negative, not absurd; `undefined` if none is left. Accepts untrusted input. */
export function soundUsage(usage: Usage | undefined): Usage | undefined {
  if (typeof usage !== "object" || usage === null) return undefined;
  const sound: { -readonly [K in keyof Usage]: Usage[K] } = {};
  for (const name of counts) {
    const count = usage[name];
    if (Number.isInteger(count) && (count as number) >= 0 && (count as number) <= tokensMax) sound[name] = count as number;
  }
  if (Object.keys(sound).length === 0) return undefined;
  return usage.source === undefined ? sound : { ...sound, source: usage.source };
}

/** The sum; a count unknown on both sides stays unknown. */
export function addUsage(a: Usage | undefined, b: Usage | undefined): Usage | undefined {
  if (!a) return withoutTools(b);
  if (!b) return withoutTools(a);
  const sum: { -readonly [K in keyof Usage]: Usage[K] } = {};
  for (const name of counts) {
    const left = a[name];
    const right = b[name];
    if (left !== undefined || right !== undefined) sum[name] = (left ?? 0) + (right ?? 0);
  }
  if (a.source === "estimated" || b.source === "estimated") sum.source = "estimated";
  return sum;
}

function withoutTools(usage: Usage | undefined): Usage | undefined {
  if (!usage?.tools) return usage;
  const { tools: _, ...rest } = usage;
  return rest;
}

/** The usage that was added since an earlier sum. */
export function usageSince(now: Usage | undefined, before: Usage | undefined): Usage | undefined {
  if (!now || !before) return now;
  const rest: { -readonly [K in keyof Usage]: Usage[K] } = {};
  for (const name of counts) {
    const count = now[name];
    if (count !== undefined) rest[name] = count - (before[name] ?? 0);
  }
  return now.source === undefined ? rest : { ...rest, source: now.source };
}

/** Tokens of prompt and answer, which count against the context window. `undefined`: nothing is known of the prompt. */
export function contextTokensOf(usage: Usage | undefined): number | undefined {
  if (!usage || (usage.input === undefined && usage.cacheRead === undefined && usage.cacheWrite === undefined)) return undefined;
  return (usage.input ?? 0) + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0) + (usage.output ?? 0);
}

/** All tokens of the usage; 0 if nothing is known. */
export function tokensOf(usage: Usage | undefined): number {
  return usage?.total ?? contextTokensOf(usage) ?? usage?.output ?? 0;
}

/** The sum of two costs; if one is absent, the other. */
export function addCost(a: Cost | undefined, b: Cost | undefined): Cost | undefined {
  if (!a || !b) return a ?? b;
  const totalUsd = a.totalUsd + b.totalUsd;
  return a.partial || b.partial ? { totalUsd, partial: true } : { totalUsd };
}

/** The cost that was added since an earlier sum. */
export function costSince(now: Cost | undefined, before: Cost | undefined): Cost | undefined {
  if (!now || !before) return now;
  const totalUsd = now.totalUsd - before.totalUsd;
  return now.partial ? { totalUsd, partial: true } : { totalUsd };
}

/** Usage and cost that belong together. */
export interface Spent {
  readonly usage?: Usage | undefined;
  readonly cost?: Cost | undefined;
}

/** The sum of two amounts. Tokens without a known price make a known cost partial. */
export function addSpent(before: Spent, spent: Spent): { readonly usage?: Usage; readonly cost?: Cost } {
  const usage = addUsage(before.usage, spent.usage);
  const cost = addCost(before.cost, spent.cost);
  const isPartial = cost && ((before.usage && !before.cost) || (spent.usage && !spent.cost));
  return { ...(usage ? { usage } : {}), ...(cost ? { cost: isPartial ? { ...cost, partial: true } : cost } : {}) };
}

/** The sum of many amounts. */
export function allSpent(accounts: readonly Spent[]): { readonly usage?: Usage; readonly cost?: Cost } {
  return accounts.reduce<ReturnType<typeof addSpent>>(addSpent, {});
}
