import { defaultLimits, type Fact, type FactBody, factVersion } from "@loopwright/core";
import type { SessionRef, SessionStore } from "@loopwright/core/ports";
import { appendLimits } from "@loopwright/core/ports";
import { modelName } from "../contenders/contender.ts";
import { historyText } from "../server/script.ts";

/** Facts of one run that asks nothing of tools. */
const factsPerRun = 5;

/** A session of about so many facts, as its runs would have written them; it rests. */
export function* historyFacts(count: number): Generator<Fact, void> {
  let seq = 0;
  const fact = (body: FactBody): Fact => ({ ...body, seq: ++seq, at: 1_700_000_000_000 + seq, v: factVersion });
  yield fact({ type: "session.opened", agent: "bench", participants: ["local", "bench"] });
  for (let run = 0; seq + factsPerRun <= count; run++) for (const body of runBodies(run)) yield fact(body);
}

function runBodies(run: number): readonly FactBody[] {
  const runId = `run${run}`;
  const call = { runId, turn: 1, attempt: 1 } as const;
  const who = { provider: "bench", model: modelName } as const;
  const usage = { input: 1_200, output: 40 };
  const content = [{ type: "text", text: historyText(2 * run + 1) }] as const;
  const message = { role: "assistant", content, stopReason: "stop", ...who, usage } as const;
  return [
    { type: "input.accepted", inputId: `in${run}`, runId, message: { role: "user", content: historyText(2 * run) }, mode: "enqueue" },
    { type: "run.started", runId, agent: "bench", agentDigest: "0", ...who, tools: {}, limits: defaultLimits },
    { type: "model.started", ...call, ...who, requestDigest: "0" },
    { type: "model.finished", ...call, message, stopReason: "stop", calls: [], usage, timings: { totalMs: 10 } },
    { type: "run.finished", runId, status: "completed", reason: "answer" },
  ];
}

/** Writes such a session into a store. */
export async function writeHistory(store: SessionStore, ref: SessionRef, count: number): Promise<void> {
  let batch: Fact[] = [];
  const flush = async (): Promise<void> => {
    const [first] = batch;
    if (!first) return;
    const outcome = await store.log.append(ref, { expectedSeq: first.seq - 1, batchId: `b${first.seq}`, facts: batch });
    if (outcome.type !== "ok") throw new Error(`The store answered ${outcome.type}.`);
    batch = [];
  };
  for (const fact of historyFacts(count)) {
    batch.push(fact);
    if (batch.length === appendLimits.facts) await flush();
  }
  await flush();
}
