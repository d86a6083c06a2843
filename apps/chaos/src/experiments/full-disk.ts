/* D1: the disk fills up, at another byte each time, while people talk. No write that is not in the log is acknowledged, and all continues once there is room. */
import { seededRandom } from "@loopwright/core/memory";
import { type GroundPlan, onSmallDisk } from "../world/ground.ts";
import { askToWrite, noAnswer } from "./crowd/ask-to-write.ts";
import { gatherCrowd } from "./crowd/crowd.ts";
import { judgeCrowd, promiseFigures } from "./crowd/judge-crowd.ts";
import type { Experiment } from "./experiment.ts";
import { inWorld } from "./in-world.ts";

const healMs = 10_000;

const outcomeOf = (status: number): string => (status === noAnswer ? "without an answer" : `answered with ${status}`);

export interface FullDiskOptions {
  readonly ground: GroundPlan;
  readonly times: number;
}

export function fullDisk({ ground, times }: FullDiskOptions): Experiment {
  const plan = { name: `full-disk-${ground.name}`, ground: onSmallDisk(ground), nodes: 1, leaseMs: 3_000, sweepMs: 500 };
  return inWorld(plan, async ({ world, ground: { disk }, seed, say }) => {
    const random = seededRandom(seed);
    const failures: string[] = [];
    const statuses = new Map<number, number>();
    const jobProfile = { tools: ["pay", "ask"] as const, turnsMax: 1, wordsMax: 40, gapMsMax: 2, toolMsMax: 10 };
    const crowd = await gatherCrowd({ world, sessions: 4, random: seededRandom(seed + 1), jobProfile, watchers: [{}] });
    for (let time = 1; time <= times; time++) {
      await disk?.fill(Math.floor(random() * 64 * 1024));
      const until = performance.now() + 300 + random() * 700;
      for (let count = 0; performance.now() < until; count++) {
        const { status, code } = await askToWrite({ base: world.pick(random), session: "s0", key: `d${time}-${count}` });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status >= 400 && status !== 507 && status !== 503) failures.push(`D1: on a full disk a write was ${outcomeOf(status)} ${code}`);
      }
      await disk?.free();
      const healedAt = performance.now();
      let isBack = false;
      for (let count = 0; !isBack && performance.now() < healedAt + healMs; count++)
        isBack = (await askToWrite({ base: world.pick(random), session: "s0", key: `h${time}-${count}` })).status < 300;
      if (!isBack) failures.push(`D1: there is room again and nothing is written within ${healMs} ms`);
      if (time % 10 === 0) say(`${time} of ${times}`);
    }
    const judged = await judgeCrowd(world, crowd);
    const answers = [...statuses].sort(([a], [b]) => a - b);
    return {
      failures: [...failures, ...judged.flaws],
      figures: [
        { name: "times the disk was full", value: times },
        ...answers.map(([status, value]) => ({ name: `writes ${outcomeOf(status)} meanwhile`, value })),
        ...promiseFigures(judged),
      ],
    };
  });
}
