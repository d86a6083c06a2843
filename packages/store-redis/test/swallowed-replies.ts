import { isAgentError } from "@loopwright/core";
import type { AppendOutcome, AppendRequest, SessionLog, SessionRef } from "@loopwright/core/ports";
import { faultyProxy } from "@loopwright/simulator/node";
import { redisStore } from "../src/index.ts";

export interface SwallowOptions {
  readonly port: number;
  readonly prefix: string;
  readonly count: number;
  /** Of every reply, whatever it answers. */
  readonly chance: number;
  readonly seed?: number;
  /** Sessions that are written at once. Default 4. */
  readonly sessions?: number;
}

export interface SwallowResult {
  /** Batches that were written, as their writers know. */
  readonly batches: readonly string[];
  /** Facts that are in the logs. */
  readonly entries: readonly string[];
  readonly unknowns: number;
  readonly swallowed: number;
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2 + Math.random() * 10));

/** Appends so many batches of one fact through a line that loses replies; each is offered under its one id until its outcome is known. */
export async function appendUnderSwallowedReplies({
  port,
  prefix,
  count,
  chance,
  seed = 1,
  sessions = 4,
}: SwallowOptions): Promise<SwallowResult> {
  const proxy = await faultyProxy({ target: { port }, seed, toxics: { swallowChance: chance } });
  const store = redisStore({ url: `redis://127.0.0.1:${proxy.port}`, prefix, deadlineMs: 5_000 });
  const judge = redisStore({ url: `redis://127.0.0.1:${port}`, prefix });
  const refs = Array.from({ length: sessions }, (_, index) => ({ scope: "local", session: `s${index}` }));
  const batches: string[] = [];
  let unknowns = 0;
  await Promise.all(
    refs.map(async (ref, index) => {
      for (let seq = 0; seq * sessions + index < count; seq++) {
        const batchId = `${ref.session} ${seq}`;
        const request = { batchId, expectedSeq: seq, facts: [{ type: "session.changed", title: batchId, at: seq, v: 1 }] } as const;
        const outcome = await untilKnown(store.log, ref, { request, unknown: () => unknowns++ });
        if (outcome.type !== "ok" && outcome.type !== "dup") throw new Error(`Batch ${batchId} got ${outcome.type}.`);
        batches.push(batchId);
      }
    }),
  );
  const logs = await Promise.all(refs.map((ref) => judge.log.read(ref)));
  const entries = logs.flat().map((fact) => ("title" in fact ? String(fact.title) : fact.type));
  await Promise.all([store.close(), judge.close(), proxy.close()]);
  return { batches, entries, unknowns, swallowed: proxy.counts.swallowed };
}

async function untilKnown(
  log: SessionLog,
  ref: SessionRef,
  { request, unknown }: { readonly request: AppendRequest; readonly unknown: () => void },
): Promise<AppendOutcome> {
  for (;;) {
    try {
      const outcome = await log.append(ref, request);
      if (outcome.type !== "unknown") return outcome;
      unknown();
    } catch (error) {
      if (!isAgentError(error, "STORE_UNAVAILABLE")) throw error;
    }
    await pause();
  }
}
