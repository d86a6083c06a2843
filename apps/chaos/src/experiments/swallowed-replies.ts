/* R4: Redis executes what it is asked and its replies are lost on the way. What is in the log afterwards is every batch, once. */
import type { Fact } from "@loopwright/core";
import type { AppendOutcome, SessionStore } from "@loopwright/core/ports";
import { redisGround } from "../world/ground.ts";
import { openStore } from "../world/open-store.ts";
import type { Experiment, Outcome } from "./experiment.ts";

const writers = 24;
const swallowChance = 0.05;
const scope = "local";

export function swallowedReplies({ count }: { readonly count: number }): Experiment {
  const plan = redisGround();
  return {
    name: "swallowed-replies",
    ...(plan.skip ? { skip: plan.skip } : {}),
    async run(seed, say): Promise<Outcome> {
      const ground = await plan.lay(seed);
      const { proxy } = ground;
      if (!proxy) throw new Error("There is no line to make bad.");
      // A connection of its own for each: one that is cut delays no other.
      const stores = await Promise.all(Array.from({ length: writers }, () => openStore(ground.store(""))));
      try {
        proxy.infect({ swallowChance });
        let lastReported = 0;
        const isEnough = (): boolean => {
          if (proxy.counts.swallowed >= lastReported + 2_000) {
            lastReported = proxy.counts.swallowed;
            say(`swallowed-replies: ${lastReported} of ${count}`);
          }
          return proxy.counts.swallowed >= count;
        };
        const written = await Promise.all(stores.map((store, writer) => write(store, { writer, isEnough })));
        proxy.infect({});
        const read = await Promise.all(stores.map((store, writer) => store.log.read({ scope, session: `w${writer}` })));
        const total = (lists: readonly (readonly unknown[])[]): number => lists.reduce((sum, list) => sum + list.length, 0);
        return {
          failures: read.flatMap((facts, writer) => differenceOf(facts, written[writer] ?? [])),
          figures: [
            { name: "replies swallowed", value: proxy.counts.swallowed, bound: { least: count } },
            { name: "batches acknowledged", value: total(written) },
            { name: "entries in the logs", value: total(read), bound: { exactly: total(written) } },
          ],
        };
      } finally {
        await Promise.all(stores.map((store) => store.close()));
        await ground.close();
      }
    },
  };
}

interface Writing {
  readonly writer: number;
  readonly isEnough: () => boolean;
}

/** Appends one batch after the other, each until it is known to be there; gives back their ids. @throws Error for an outcome that cannot be */
async function write({ log }: SessionStore, { writer, isEnough }: Writing): Promise<readonly string[]> {
  const ref = { scope, session: `w${writer}` };
  const mine: string[] = [];
  while (!isEnough()) {
    const batchId = `${writer}-${mine.length}`;
    const fact = { type: "session.changed", title: batchId, at: 1, v: 1 } as const;
    let outcome: AppendOutcome = { type: "unknown" };
    while (outcome.type === "unknown")
      outcome = await log.append(ref, { expectedSeq: mine.length, batchId, facts: [fact] }).catch(() => ({ type: "unknown" }) as const);
    if (outcome.type !== "ok" && outcome.type !== "dup") throw new Error(`Batch ${batchId} was answered with ${outcome.type}.`);
    mine.push(batchId);
  }
  return mine;
}

function differenceOf(facts: readonly Fact[], batches: readonly string[]): readonly string[] {
  const titles = facts.map((fact) => (fact.type === "session.changed" ? fact.title : fact.type));
  return JSON.stringify(titles) === JSON.stringify(batches)
    ? []
    : [`A log holds ${titles.length} entries for ${batches.length} batches, or others`];
}
