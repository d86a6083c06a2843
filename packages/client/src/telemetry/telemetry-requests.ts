import { type ClientOptions, clientContext } from "../client-context.ts";
import { requestJson } from "../send-request.ts";
import type { RequestOptions } from "../session-requests.ts";

export type UsageDimension = "day" | "scope" | "user" | "agent" | "provider" | "model";

export interface UsageQuestion extends RequestOptions {
  /** Default: one sum. */
  readonly by?: readonly UsageDimension[];
  /** Days of UTC as `2026-11-24`, both included. Default: all. */
  readonly from?: string;
  readonly to?: string;
  readonly user?: string;
}

/** What was spent, with the values of the dimensions that were asked for. */
export interface UsageSum {
  readonly day?: string;
  readonly scope?: string;
  readonly user?: string;
  readonly agent?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly calls: number;
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly costUsd: number;
  /** Calls without a known price, which the cost lacks. */
  readonly unpricedCalls: number;
}

/** Milliseconds. */
interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export interface ModelFigures {
  readonly provider: string;
  readonly model: string;
  readonly turns: number;
  /** Of streamed turns; `null` without any. */
  readonly ttftMs: Percentiles | null;
  readonly turnDurationMs: Percentiles;
  /** From 0 to 1; `null` where no vendor reported any. */
  readonly cacheHitRate: number | null;
}

export interface ToolFigures {
  readonly name: string;
  readonly count: number;
  readonly durationMs: { readonly p50: number; readonly p95: number };
  readonly errorRate: number;
}

/** The last 60 minutes. */
export interface LatencyFigures {
  readonly from: number;
  readonly to: number;
  readonly turns: number;
  readonly models: readonly ModelFigures[];
  readonly tools: { readonly server: readonly ToolFigures[]; readonly client: readonly ToolFigures[] };
}

/** What a model call read from the vendor's cache. */
export interface CacheFinding {
  readonly runId: string;
  readonly turn: number;
  readonly at: number;
  readonly provider: string;
  readonly model: string;
  readonly verdict: "first" | "hit" | "changed" | "expired";
  /** The first piece of the request that differs from the call before. */
  readonly changed?: { readonly kind: "tools" | "system" | "history" | "options"; readonly name: string };
  readonly repeatableTokens: number;
  readonly cachedTokens: number;
  readonly lostUsd?: number;
}

export interface CachePage {
  /** The oldest first. */
  readonly findings: readonly CacheFinding[];
  /** For the page before; absent: there is none. */
  readonly before?: string;
}

export interface QuotaAmount {
  readonly limit: number;
  readonly spent: number;
  readonly left: number;
}

/** How an account stands at one of its limits. */
export interface Quota {
  readonly account: string;
  /** Absent: for all time. */
  readonly per?: "day" | "month";
  readonly timeZone?: string;
  readonly tokens?: QuotaAmount;
  readonly costUsd?: QuotaAmount;
  /** When its window ends, in milliseconds since the epoch. */
  readonly resetsAt?: number;
}

/** The routes of telemetry. Each throws ROUTE_NOT_FOUND where the server does not have it. */
export interface TelemetryRequests {
  /** Of what the caller may see: operators of all scopes, every other caller of its own runs. @throws AgentError INPUT_INVALID */
  usage(question?: UsageQuestion): Promise<readonly UsageSum[]>;
  /** @throws AgentError FORBIDDEN for callers that are no operators */
  latency(options?: RequestOptions): Promise<LatencyFigures>;
  /** The newest calls of a session. @throws AgentError SESSION_NOT_FOUND */
  cache(sessionId: string, options?: RequestOptions & { readonly limit?: number; readonly before?: string }): Promise<CachePage>;
  /** The limits of the caller and of its scope. */
  quotas(options?: RequestOptions): Promise<readonly Quota[]>;
}

/** Makes no request by itself. */
export function telemetryRequests(options: ClientOptions): TelemetryRequests {
  const client = clientContext(options);
  const get = <T>(path: string, query: Query, signal: AbortSignal | undefined): Promise<T> => {
    const wanted = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    );
    return requestJson<T>(client, { path: wanted.length === 0 ? path : `${path}?${new URLSearchParams(wanted)}`, signal });
  };
  return {
    async usage({ by, from, to, user, signal } = {}) {
      const query = { by: by?.join(","), from, to, user };
      return (await get<{ readonly sums: readonly UsageSum[] }>("/api/usage", query, signal)).sums;
    },
    latency: ({ signal } = {}) => get("/dev/ai-latency", {}, signal),
    cache: (sessionId, { limit, before, signal } = {}) =>
      get(`/api/sessions/${encodeURIComponent(sessionId)}/cache`, { limit, before }, signal),
    quotas: async ({ signal } = {}) => (await get<{ readonly quotas: readonly Quota[] }>("/api/quotas", {}, signal)).quotas,
  };
}

interface Query {
  readonly [name: string]: string | number | undefined;
}
