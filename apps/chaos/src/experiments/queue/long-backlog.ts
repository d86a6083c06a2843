/* W3: one tenant has a backlog of many hints. The runs of another tenant do not wait behind it, and the backlog is worked off. */
import type { RunQueue } from "@loopwright/core/ports";
import { bullQueue } from "@loopwright/queue-bullmq";
import type { GroundPlan } from "../../world/ground.ts";
import { textOfJob } from "../../world/job.ts";
import { post } from "../../world/people/post.ts";
import { guest, home } from "../../world/tenants.ts";
import type { Experiment } from "../experiment.ts";
import { inWorld } from "../in-world.ts";
import { until } from "../until.ts";

const guestRuns = 10;
const offersAtOnce = 200;
const waiting = "loopwright:queue:runs:prioritized";

/** `hints`: how many of one tenant wait before the other tenant writes. */
export function longBacklog({
  ground: plan,
  hints,
  withinMs,
}: {
  readonly ground: GroundPlan;
  readonly hints: number;
  readonly withinMs: number;
}): Experiment {
  const role = (index: number) => (index === 0 ? ("server" as const) : ("worker" as const));
  // A sweep must not find the runs of the other tenant before the queue gives them to a worker.
  const world = { name: "long-backlog", ground: plan, nodes: 3, leaseMs: 20_000, sweepMs: 3_600_000, role };
  return inWorld(world, async ({ world, ground: { redis, redisUrl = "" }, say }) => {
    const queue = bullQueue({ url: redisUrl });
    const left = async (): Promise<number> => Number((await redis?.command("ZCARD", waiting))?.slice(1));
    const workers = [world.nodes[1], world.nodes[2]];
    try {
      for (const worker of workers) worker?.signal("SIGSTOP");
      await offerAll(queue, { hints, say });
      await writeAsGuest(`http://127.0.0.1:${world.nodes[0]?.port}`);
      const before = await left();
      const continuedAt = Date.now();
      for (const worker of workers) worker?.signal("SIGCONT");
      const isWorkedOff = await until(async () => (await left()) === 0, withinMs);
      const tookMs = Date.now() - continuedAt;
      const store = await world.openStore();
      try {
        const logOf = (at: number) => store.log.read({ scope: guest.scope, session: `g${at}` });
        const logs = Array.from({ length: guestRuns }, (_, at) => at);
        const hasEnded = async (at: number): Promise<boolean> =>
          until(async () => (await logOf(at)).some(({ type }) => type === "run.finished"), withinMs);
        const ended = await Promise.all(logs.map(hasEnded));
        const starts = (await Promise.all(logs.map(logOf)))
          .flat()
          .flatMap(({ type, at }) => (type === "run.started" ? [at - continuedAt] : []));
        return {
          failures: isWorkedOff ? [] : [`W3: ${await left()} hints of the backlog still waited after ${withinMs} ms`],
          figures: [
            { name: "hints that waited", value: before, bound: { least: hints } },
            { name: "until the backlog was worked off", value: tookMs, unit: "ms" },
            { name: "runs of another tenant that ended", value: ended.filter(Boolean).length, bound: { exactly: guestRuns } },
            { name: "until the last of them started", value: Math.max(...starts), unit: "ms" },
            {
              name: "the same as a part of the time of the backlog",
              value: Math.round((100 * Math.max(...starts)) / tookMs),
              unit: "%",
              bound: { most: 50 },
            },
          ],
        };
      } finally {
        await store.close();
      }
    } finally {
      for (const worker of workers) worker?.signal("SIGCONT");
      await queue.close();
    }
  });
}

/** Hints of sessions that do not exist. A worker looks for the log of each, finds none, and takes the next hint. */
async function offerAll(queue: RunQueue, { hints, say }: { readonly hints: number; readonly say: (line: string) => void }): Promise<void> {
  for (let from = 0; from < hints; from += offersAtOnce) {
    const some = Array.from({ length: Math.min(offersAtOnce, hints - from) }, (_, at) => ({ scope: home.scope, session: `b${from + at}` }));
    await Promise.all(some.map((ref) => queue.offer(ref)));
    if (from % 10_000 === 0) say(`${from} of ${hints} hints`);
  }
}

/** A message in each of the sessions of the other tenant. */
async function writeAsGuest(url: string): Promise<void> {
  const { headers } = guest;
  for (let at = 0; at < guestRuns; at++) {
    const job = { id: `g${at}`, turns: [{ words: 2, gapMs: 0 }] };
    const shared = { pick: () => url, headers };
    await post({ ...shared, path: "/api/sessions", body: { id: job.id }, key: `open-${job.id}` });
    await post({ ...shared, path: `/api/sessions/${job.id}/messages`, body: { message: textOfJob(job) }, key: `say-${job.id}` });
  }
}
