import { startRedis } from "@loopwright/simulator/node";
import { redisStore } from "../src/index.ts";

export interface AppendFigures {
  readonly appendsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface AppendLoad {
  readonly fsync: "everysec" | "always";
  /** Each writes to a session of its own, one append after the other. Default 64. */
  readonly writers?: number;
  /** Default 400. */
  readonly factBytes?: number;
  /** Appends of all writers together. Default 100,000. */
  readonly count?: number;
}

/** Appends as fast as they are answered, to a Redis of its own. Writers share one store, as the sessions of one node do. */
export async function measureAppends({ fsync, writers = 64, factBytes = 400, count = 100_000 }: AppendLoad): Promise<AppendFigures> {
  const redis = await startRedis({ args: ["--appendfsync", fsync] });
  const store = redisStore(redis.url);
  const title = "x".repeat(factBytes - 70);
  const perWriter = Math.ceil(count / writers);
  const tookMs: number[] = [];
  await store.log.head({ scope: "local", session: "warm" });
  const write = async (session: string, from: number, to: number, took: number[]): Promise<void> => {
    for (let seq = from; seq < to; seq++) {
      const startedAt = performance.now();
      const facts = [{ type: "session.changed", title, at: Date.now(), v: 1 }] as const;
      const outcome = await store.log.append({ scope: "local", session }, { batchId: `${session}-${seq}`, expectedSeq: seq, facts });
      if (outcome.type !== "ok") throw new Error(`An append answered ${outcome.type}.`);
      took.push(performance.now() - startedAt);
    }
  };
  const each = (from: number, to: number, took: number[]) =>
    Promise.all(Array.from({ length: writers }, (_, index) => write(`s${index}`, from, to, took)));
  const warmUp = Math.ceil(perWriter / 10);
  await each(0, warmUp, []);
  const startedAt = performance.now();
  await each(warmUp, warmUp + perWriter, tookMs);
  const seconds = (performance.now() - startedAt) / 1_000;
  await store.close();
  await redis.stop();
  tookMs.sort((a, b) => a - b);
  const at = (share: number): number => tookMs[Math.floor(tookMs.length * share)] ?? 0;
  return { appendsPerSecond: Math.round(tookMs.length / seconds), p50Ms: at(0.5), p99Ms: at(0.99) };
}

if (import.meta.main)
  for (const fsync of ["everysec", "always"] as const) {
    const { appendsPerSecond, p50Ms, p99Ms } = await measureAppends({ fsync });
    console.log(`${fsync}: ${appendsPerSecond} appends/s, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`);
  }
