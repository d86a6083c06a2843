/* R4: Redis executes what it is asked and its replies are lost on the way. What is in the log afterwards is every batch, once. */
import type { Fact } from "@loopwright/core";
import type { AppendOutcome } from "@loopwright/core/ports";
import { redisGround } from "../world/ground.ts";
import { openStore } from "../world/open-store.ts";
import type { Experiment, Outcome } from "./experiment.ts";

const writers = 16;
const swallowChance = 0.3;
const scope = "local";

export function swallowedReplies({ count }: { readonly count: number }): Experiment {
  const plan = redisGround();
  return {
    name: "swallowed-replies",
    ...(plan.skip ? { skip: plan.skip } : {}),
    async run(seed, say): Promise<Outcome> {
      const ground = await plan.lay(seed);
      const store = await openStore(ground.store(""));
      const { proxy } = ground;
      if (!proxy) throw new Error("There is no line to make bad.");
      try {
        const batches = new Map<string, string[]>();
        proxy.infect({ swallowChance });
        let told = 0;
        const write = async (writer: number): Promise<void> => {
          const ref = { scope, session: `w${writer}` };
          const mine: string[] = [];
          batches.set(ref.session, mine);
          for (let seq = 0; proxy.counts.swallowed < count; seq++) {
            const batchId = `${writer}-${seq}`;
            const fact = { type: "session.changed", title: batchId, at: 1, v: 1 } as const;
            let outcome: AppendOutcome = { type: "unknown" };
            while (outcome.type === "unknown") {
              outcome = await store.log
                .append(ref, { expectedSeq: seq, batchId, facts: [fact] })
                .catch(() => ({ type: "unknown" }) as const);
            }
            if (outcome.type !== "ok" && outcome.type !== "dup") throw new Error(`Batch ${batchId} was answered with ${outcome.type}.`);
            mine.push(batchId);
            if (proxy.counts.swallowed >= told + 2_000) {
              told = proxy.counts.swallowed;
              say(`swallowed-replies: ${told} of ${count}`);
            }
          }
        };
        await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
        proxy.infect({});
        let acknowledged = 0;
        let entries = 0;
        const failures: string[] = [];
        for (const [session, mine] of batches) {
          const facts = await store.log.read({ scope, session });
          const titles = facts.map((fact: Fact) => (fact.type === "session.changed" ? fact.title : fact.type));
          if (JSON.stringify(titles) !== JSON.stringify(mine))
            failures.push(`${session} holds ${titles.length} entries for ${mine.length} batches, or others`);
          acknowledged += mine.length;
          entries += titles.length;
        }
        return {
          failures,
          figures: [
            { name: "replies swallowed", value: proxy.counts.swallowed, bound: { least: count } },
            { name: "batches acknowledged", value: acknowledged },
            { name: "entries in the logs", value: entries, bound: { exactly: acknowledged } },
          ],
        };
      } finally {
        await store.close();
        await ground.close();
      }
    },
  };
}
