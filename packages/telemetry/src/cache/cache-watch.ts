/*
 * Owns: the digests of the last request of each session, and what became of the vendor's cache since.
 * Does not own: requests (the provider), their usage (the log).
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { FactBody, ModelProvider, Observer, PriceTable, SessionRef } from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import { type Clock, refKey } from "@loopwright/core/ports";
import type { EventStore } from "../events/event-store.ts";
import { type CacheFinding, cacheStream } from "./cache-finding.ts";
import { firstChange, type Segment, segmentsOf } from "./request-segments.ts";

export interface CacheWatchOptions {
  readonly events: EventStore;
  /** For the money that was lost. */
  readonly prices?: PriceTable;
  readonly clock?: Clock;
  /** Sessions whose last request is remembered; the one that has been silent for longest is forgotten. Default 1,000. */
  readonly sessionsMax?: number;
}

export interface CacheWatch {
  readonly observer: Observer;
  /** The same provider, whose requests are compared. Needs `observer` in the same process. */
  watch(provider: ModelProvider): ModelProvider;
  /** How long the first bytes of an answer took: for `turnObserver`. */
  firstByteOf(ref: SessionRef, runId: string, turn: number): number | undefined;
}

interface Last {
  readonly segments: readonly Segment[];
  /** As the vendor counted it. */
  readonly promptTokens: number;
  readonly provider: string;
}

/** A model call under way. */
interface Sent {
  readonly ref: SessionRef;
  readonly runId: string;
  readonly turn: number;
  readonly provider: string;
  readonly model: string;
  segments?: readonly Segment[];
  firstByteMs?: number;
}

type Finished = Extract<FactBody, { readonly type: "model.finished" }>;

/** Cached tokens that may be missing before a call counts as one that the cache has failed: vendors cache in blocks. */
const blockTokens = 1_024;

/** Explains what each model call read from the vendor's cache, and why not more. Keeps digests, never content. */
export function cacheWatch({ events, prices, clock = systemClock, sessionsMax = 1_000 }: CacheWatchOptions): CacheWatch {
  const calls = new AsyncLocalStorage<Sent>();
  const sessions = new Map<string, Last>();
  const firstBytes = new Map<string, number>();
  const keep = <T>(map: Map<string, T>, key: string, value: T): void => {
    map.delete(key);
    map.set(key, value);
    const [oldest] = map.keys();
    if (map.size > sessionsMax && oldest !== undefined) map.delete(oldest);
  };

  const ended = async (sent: Sent, { usage }: Finished): Promise<void> => {
    const { ref, segments, provider, model, runId, turn } = sent;
    if (!segments || !usage) return;
    const cachedTokens = usage.cacheRead ?? 0;
    const promptTokens = (usage.input ?? 0) + cachedTokens + (usage.cacheWrite ?? 0);
    const before = sessions.get(refKey(ref));
    keep(sessions, refKey(ref), { segments, promptTokens, provider });
    const found = judged(before?.provider === provider ? before : undefined, { segments, cachedTokens });
    const at = clock.now();
    const lost =
      found.verdict === "changed" || found.verdict === "expired"
        ? Math.max(0, Math.min(found.repeatableTokens, promptTokens) - cachedTokens)
        : 0;
    const lostUsd = await priceOf(prices, { provider, model, at, lost });
    const finding: CacheFinding = {
      ...ref,
      runId,
      turn,
      at,
      provider,
      model,
      cachedTokens,
      ...found,
      ...(lostUsd === undefined ? {} : { lostUsd }),
    };
    events.append(cacheStream, [{ key: `${refKey(ref)}/${runId}.${turn}`, at, ...ref, data: finding }]);
  };

  return {
    observer: {
      effect(ref, effect) {
        if (effect.type !== "call-model") return undefined;
        const { runId, turn, provider, model } = effect;
        const sent: Sent = { ref, runId, turn, provider, model };
        return {
          around: (run) => calls.run(sent, run),
          end(closing) {
            if (sent.firstByteMs !== undefined) keep(firstBytes, `${refKey(ref)}/${runId}.${turn}`, sent.firstByteMs);
            return closing?.type === "model.finished" ? ended(sent, closing) : undefined;
          },
        };
      },
      removed: (ref) => void sessions.delete(refKey(ref)),
    },
    watch: (provider) => ({
      ...provider,
      name: provider.name,
      defaultModel: provider.defaultModel,
      capabilities: (model) => provider.capabilities(model),
      ...(provider.checkTools ? { checkTools: (tools) => provider.checkTools?.(tools) } : {}),
      stream: (request, io) => {
        const sent = calls.getStore();
        if (!sent) return provider.stream(request, io);
        sent.segments = segmentsOf(request);
        return timed(provider.stream(request, io), sent, clock);
      },
    }),
    firstByteOf: (ref, runId, turn) => firstBytes.get(`${refKey(ref)}/${runId}.${turn}`),
  };
}

async function* timed<T>(chunks: AsyncIterable<T>, sent: Sent, clock: Clock): AsyncIterable<T> {
  const startedAt = clock.monotonic();
  for await (const chunk of chunks) {
    sent.firstByteMs ??= clock.monotonic() - startedAt;
    yield chunk;
  }
}

type Judged = Pick<CacheFinding, "verdict" | "repeatableTokens" | "changed">;

function judged(
  before: Last | undefined,
  { segments, cachedTokens }: { readonly segments: readonly Segment[]; readonly cachedTokens: number },
): Judged {
  if (!before) return { verdict: "first", repeatableTokens: 0 };
  const repeatableTokens = before.promptTokens;
  const change = firstChange(before.segments, segments);
  if (change) return { verdict: "changed", repeatableTokens, changed: { kind: change.segment.kind, name: change.segment.name } };
  // What is below the least that a vendor caches was never to be had.
  const isMissed = repeatableTokens >= blockTokens && repeatableTokens - cachedTokens >= blockTokens;
  return { verdict: isMissed ? "expired" : "hit", repeatableTokens };
}

interface LostTokens {
  readonly provider: string;
  readonly model: string;
  readonly at: number;
  readonly lost: number;
}

/** The difference between reading these tokens at full price and reading them from the cache. */
async function priceOf(prices: PriceTable | undefined, { lost, ...call }: LostTokens): Promise<number | undefined> {
  if (!prices) return undefined;
  if (lost === 0) return 0;
  const full = await prices.costOf({ ...call, usage: { input: lost, cacheRead: 0, output: 0 } });
  const cached = await prices.costOf({ ...call, usage: { input: 0, cacheRead: lost, output: 0 } });
  return full && cached && !cached.partial ? Math.max(0, full.totalUsd - cached.totalUsd) : undefined;
}
