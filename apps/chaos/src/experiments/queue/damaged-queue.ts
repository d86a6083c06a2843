/* W3: hints, which wake a worker for a session, are lost, given ten times and reordered while people write. Sweeps and the log repair it: each input is answered once. */
import { seededRandom } from "@loopwright/core/memory";
import type { RunQueue } from "@loopwright/core/ports";
import { bullQueue } from "@loopwright/queue-bullmq";
import { checkStarts } from "../../check/check-starts.ts";
import type { Ground, GroundPlan } from "../../world/ground.ts";
import { textOfJob } from "../../world/job.ts";
import { post } from "../../world/people/post.ts";
import type { World } from "../../world/world.ts";
import type { Experiment } from "../experiment.ts";
import { inWorld } from "../in-world.ts";
import { until } from "../until.ts";

const scope = "local";
const sessions = 10;
const copies = 10;
/** After the last fault everything rests within this time. */
const restMs = 60_000;
/** Keys of the queue as BullMQ names them. */
const keysOf = (name: string): string => `loopwright:queue:runs:${name}`;

/** Removes every hint that waits, and the memory of those that were merged: as if they had never been offered. */
const loseAll = `
for _, key in ipairs({'prioritized', 'wait'}) do redis.call('DEL', ARGV[1] .. key) end
for _, key in ipairs(redis.call('KEYS', ARGV[1] .. 'de:*')) do redis.call('DEL', key) end
return 1
`;

/** Gives each hint that waits another place in the queue. */
const shuffle = `
math.randomseed(tonumber(ARGV[2]))
for _, id in ipairs(redis.call('ZRANGE', ARGV[1] .. 'prioritized', 0, -1)) do
  redis.call('ZADD', ARGV[1] .. 'prioritized', math.random(1, 1000000) * 4294967296, id)
end
return 1
`;

/** The acknowledged runs that completed, and the completions beyond the first of each run. */
interface Ends {
  readonly completed: number;
  readonly surplus: number;
}

export function damagedQueue({ ground: plan, messages }: { readonly ground: GroundPlan; readonly messages: number }): Experiment {
  const role = (index: number) => (index === 0 ? ("server" as const) : ("worker" as const));
  return inWorld(
    { name: "damaged-queue", ground: plan, nodes: 3, leaseMs: 2_000, sweepMs: 500, role },
    async ({ world, ground, seed, say }) => {
      const queue = bullQueue({ url: ground.redisUrl ?? "" });
      try {
        const acknowledged = await writeBesideFaults({ world, ground, queue, random: seededRandom(seed), messages, say });
        const store = await world.openStore();
        try {
          const ends = async (): Promise<Ends> => {
            const all = await Promise.all(
              Array.from({ length: sessions }, async (_, at) => store.log.read({ scope, session: `s${at}` }, { limit: 1_000_000 })),
            );
            const runs = all.flatMap((facts) =>
              facts.flatMap((fact) => (fact.type === "run.finished" && fact.status === "completed" ? [fact.runId] : [])),
            );
            return { completed: acknowledged.filter((runId) => runs.includes(runId)).length, surplus: runs.length - new Set(runs).size };
          };
          const isWhole = await until(async () => (await ends()).completed === acknowledged.length, restMs);
          const { completed, surplus } = await ends();
          const unanswered = isWhole
            ? []
            : [`I10: ${acknowledged.length - completed} runs had not completed ${restMs} ms after the last fault`];
          return {
            failures: [...unanswered, ...checkStarts(await world.testimonies(), ["pay"])],
            figures: [
              { name: "messages beside faults of the queue", value: acknowledged.length, bound: { least: messages } },
              { name: "runs that completed", value: completed, bound: { exactly: acknowledged.length } },
              { name: "completions beyond the first of a run", value: surplus, bound: { exactly: 0 } },
            ],
          };
        } finally {
          await store.close();
        }
      } finally {
        await queue.close();
      }
    },
  );
}

interface Writing {
  readonly world: World;
  readonly ground: Ground;
  readonly queue: RunQueue;
  readonly random: () => number;
  readonly messages: number;
  readonly say: (line: string) => void;
}

/** The ids of the runs of all messages that were acknowledged. A fault of the queue follows each message. */
async function writeBesideFaults({ world, ground, queue, random, messages, say }: Writing): Promise<readonly string[]> {
  const pick = (): string => `http://127.0.0.1:${world.nodes[0]?.port}`;
  const runs: string[] = [];
  for (let at = 0; at < sessions; at++) await post({ pick, path: "/api/sessions", body: { id: `s${at}` }, key: `open-s${at}` });
  for (let at = 0; at < messages; at++) {
    const session = `s${Math.floor(random() * sessions)}`;
    const job = {
      id: `m${at}`,
      turns: [
        { words: 3, gapMs: 1, calls: [{ tool: "pay" as const, ms: 1 }] },
        { words: 3, gapMs: 1 },
      ],
    };
    const path = `/api/sessions/${session}/messages`;
    const answer = await post({ pick, path, body: { message: textOfJob(job), mode: "enqueue" }, key: `say-${at}` });
    const runId = answer?.body["runId"];
    if (typeof runId === "string") runs.push(runId);
    await hurt({ ground, queue, random, session });
    if ((at + 1) % 100 === 0) say(`${at + 1} of ${messages}`);
  }
  return runs;
}

/** One fault of the queue: all hints are lost, one is given ten times, or they change places. */
async function hurt({
  ground: { redis },
  queue,
  random,
  session,
}: Pick<Writing, "ground" | "queue" | "random"> & { readonly session: string }): Promise<void> {
  const fault = Math.floor(random() * 3);
  if (fault === 0) await redis?.command("EVAL", loseAll, "0", keysOf(""));
  else if (fault === 1) await redis?.command("EVAL", shuffle, "0", keysOf(""), String(Math.floor(random() * 1_000_000)));
  else
    for (let copy = 0; copy < copies; copy++) {
      // Without the mark of a hint that waits, the next one is another job of the queue.
      await redis?.command("DEL", keysOf(`de:${scope}/${session}`));
      await queue.offer({ scope, session });
    }
}
