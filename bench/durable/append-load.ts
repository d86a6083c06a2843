import type { SessionStore } from "@loopwright/core/ports";
import type { AppendScene } from "./durable-scenes.ts";

/** Part of the appends that is not measured, before the rest. */
const warmupShare = 0.1;
/** What a fact has around its title. */
const frameBytes = 70;

/** Appends a second, and how long each took in milliseconds, at the 50th and the 99th percentile. */
export async function measureAppends(
  { writers, factBytes, appends }: AppendScene,
  store: SessionStore,
): Promise<Readonly<Record<string, readonly number[]>>> {
  const title = "x".repeat(factBytes - frameBytes);
  const perWriter = Math.ceil(appends / writers);
  const warmup = Math.ceil(perWriter * warmupShare);
  const write = async (session: string, [from, to]: readonly [number, number], tookMs: number[]): Promise<void> => {
    for (let seq = from; seq < to; seq++) {
      const startedAt = performance.now();
      const facts = [{ type: "session.changed", title, at: Date.now(), v: 1 }] as const;
      const outcome = await store.log.append({ scope: "local", session }, { batchId: `${session}-${seq}`, expectedSeq: seq, facts });
      if (outcome.type !== "ok") throw new Error(`An append answered ${outcome.type}.`);
      tookMs.push(performance.now() - startedAt);
    }
  };
  const all = (range: readonly [number, number], tookMs: number[]): Promise<unknown> =>
    Promise.all(Array.from({ length: writers }, (_, index) => write(`s${index}`, range, tookMs)));
  await all([0, warmup], []);
  const tookMs: number[] = [];
  const startedAt = performance.now();
  await all([warmup, warmup + perWriter], tookMs);
  const seconds = (performance.now() - startedAt) / 1_000;
  tookMs.sort((a, b) => a - b);
  const at = (share: number): number => tookMs[Math.floor(tookMs.length * share)] ?? Number.NaN;
  return { perSecond: [tookMs.length / seconds], p50Ms: [at(0.5)], p99Ms: [at(0.99)] };
}
