/* K1 to K5: nodes die by kill -9 while people talk, in tools, in waits and in recoveries; each is started again at once. */
import type { FactType } from "@loopwright/core";
import { seededRandom } from "@loopwright/core/memory";
import { checkEnds } from "../check/check-ends.ts";
import { type Child, FailedStart } from "../world/child.ts";
import type { GroundPlan } from "../world/ground.ts";
import type { KillPoint } from "../world/node-settings.ts";
import type { World } from "../world/world.ts";
import { gatherCrowd } from "./crowd/crowd.ts";
import { judgeCrowd, promiseFigures } from "./crowd/judge-crowd.ts";
import type { Experiment } from "./experiment.ts";
import { inWorld } from "./in-world.ts";

export interface StormOptions {
  readonly ground: GroundPlan;
  readonly nodes: number;
  readonly sessions: number;
  readonly kills: number;
  readonly leaseMs: number;
}

/** Where a node may kill itself. */
const deadly: readonly KillPoint["at"][] = [
  "owner.claimed" satisfies FactType,
  "input.accepted" satisfies FactType,
  "run.started" satisfies FactType,
  "model.started" satisfies FactType,
  "model.finished" satisfies FactType,
  "model.failed" satisfies FactType,
  "tool.started" satisfies FactType,
  "tool.finished" satisfies FactType,
  "client.requested" satisfies FactType,
  "client.answered" satisfies FactType,
  "approval.requested" satisfies FactType,
  "approval.decided" satisfies FactType,
  "run.finished" satisfies FactType,
  "abort.requested" satisfies FactType,
  "witness-start",
  "witness-end",
];

const aimedShare = 0.3;
const gapMsMax = 700;
/** Deaths a fraction of a second apart: recoveries are killed as well. */
const burstShare = 0.1;

interface Reaped {
  readonly kills: number;
  readonly aimed: number;
  /** Deaths that were no kill of ours. */
  readonly flaws: readonly string[];
}

interface Reaper {
  /** Resolves when so many nodes have died. Afterwards all live, and none waits for its fact any more. */
  reap(kills: number, notified: (kills: number) => void): Promise<Reaped>;
}

/** Kills nodes at random moments, and starts each again at once; some of them kill themselves at a fact. */
function createReaper(world: World, random: () => number): Reaper {
  let isOver = false;
  let kills = 0;
  let aimed = 0;
  const flaws: string[] = [];
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

  const killPoint = (): KillPoint | undefined => {
    if (isOver || random() >= aimedShare) return undefined;
    const at = deadly[Math.floor(random() * deadly.length)] ?? "model.started";
    return { when: random() < 0.5 ? "before" : "after", at, count: 1 + Math.floor(random() * 4) };
  };

  /** Sees to it that there is always a node in this place. */
  const live = async (index: number): Promise<void> => {
    let node = world.nodes[index];
    let killAt: KillPoint | undefined;
    for (;;) {
      // `undefined`: it killed itself before it was ready. A node that ends by anything but a kill is a failure, which the world reports.
      const isKill = node === undefined || (await node.ended) === "SIGKILL";
      const isByReaper = killed.delete(node);
      if (isKill && (isByReaper || killAt)) kills += 1;
      else if (isKill) flaws.push(`node${index} was killed, and not by the rig`);
      if (isKill && killAt && !isByReaper) aimed += 1;
      killAt = killPoint();
      node = await world.start(index, killAt ? { killAt } : {}).catch((error: unknown) => {
        // It may meet its fact before it is ready. What else ends it is no kill.
        if (killAt && error instanceof FailedStart && error.end === "SIGKILL") return undefined;
        throw error;
      });
      if (!isOver) continue;
      if (!killAt) return;
      node?.signal("SIGKILL");
      await node?.ended;
      await world.start(index);
      return;
    }
  };
  const killed = new Set<Child | undefined>();
  const kill = (node: Child | undefined): void => {
    if (!node?.isAlive) return;
    killed.add(node);
    node.signal("SIGKILL");
  };

  return {
    async reap(wanted, notified) {
      const lives = world.nodes.map((_, index) => live(index));
      const failed = Promise.all(lives);
      while (kills < wanted) {
        const isBurst = random() < burstShare;
        await Promise.race([pause(isBurst ? 20 : random() * gapMsMax), failed]);
        const alive = world.nodes.filter((node) => node?.isAlive && !killed.has(node));
        // A node works most of the time, or there would be little to kill.
        if (alive.length > 1 || isBurst) kill(alive[Math.floor(random() * alive.length)]);
        notified(kills);
      }
      isOver = true;
      // Everybody dies once more, and lives on for good.
      for (const node of world.nodes) kill(node);
      await failed;
      const early = world.endings.filter(({ end }) => end === 0);
      return { kills, aimed, flaws: [...flaws, ...checkEnds(early, ["SIGKILL"])] };
    },
  };
}

export function killStorm({ ground, nodes, sessions, kills, leaseMs }: StormOptions): Experiment {
  return inWorld({ name: `kills-${ground.name}`, ground, nodes, leaseMs, sweepMs: 500 }, async ({ world, seed, say }) => {
    const crowd = await gatherCrowd({
      world,
      sessions,
      random: seededRandom(seed + 1),
      taste: {
        tools: ["pay", "book", "read", "sign", "ask"],
        turnsMax: 3,
        wordsMax: 60,
        gapMsMax: 6,
        toolMsMax: 120,
        abortShare: 0.08,
        steerShare: 0.08,
        interruptShare: 0.05,
      },
      watchers: [{}, { cutAfterBytes: 20_000 }],
    });
    let notified = 0;
    const {
      kills: died,
      aimed,
      flaws,
    } = await createReaper(world, seededRandom(seed)).reap(kills, (count) => {
      if (count < notified + 25) return;
      notified = count;
      say(`${count} of ${kills} kills`);
    });
    const judged = await judgeCrowd(world, crowd);
    return {
      failures: [...flaws, ...judged.flaws],
      figures: [
        { name: "kills", value: died, bound: { least: kills } },
        { name: "kills aimed at a fact or a side effect", value: aimed },
        { name: "sessions at once", value: sessions },
        ...promiseFigures(judged),
      ],
    };
  });
}
