/* Owns: the deaths of nodes, at random moments and at facts, and their new starts. */
import type { FactType } from "@loopwright/core";
import { checkEnds } from "../check/check-ends.ts";
import { type Child, FailedStart } from "../world/child.ts";
import type { KillPoint } from "../world/node-settings.ts";
import type { World } from "../world/world.ts";

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

/** The same in the life of children. */
export const deadlyToChildren: readonly KillPoint["at"][] = [
  ...deadly,
  "child.linked" satisfies FactType,
  "child.waiting" satisfies FactType,
  "child.finished" satisfies FactType,
];

const aimedShare = 0.3;
const gapMsMax = 700;
/** Deaths a fraction of a second apart: recoveries are killed as well. */
const burstShare = 0.1;

export interface KillReport {
  readonly kills: number;
  readonly aimed: number;
  /** Deaths that were no kill of ours. */
  readonly flaws: readonly string[];
}

export interface NodeKiller {
  /** Resolves when so many nodes have died. Afterwards all live, and none waits for its fact any more. */
  kill(kills: number, onProgress: (kills: number) => void): Promise<KillReport>;
}

export interface KillerOptions {
  /** Where nodes kill themselves. Default: at the facts of a session without children. */
  readonly points?: readonly KillPoint["at"][];
  /** The time until the next kill, in milliseconds. Default: random. */
  readonly waitMs?: () => number;
}

/** Kills nodes at random moments, and starts each again at once; some of them kill themselves at a fact. */
export function createNodeKiller(
  world: World,
  random: () => number,
  { points = deadly, waitMs = () => random() * gapMsMax }: KillerOptions = {},
): NodeKiller {
  let isOver = false;
  let kills = 0;
  let aimed = 0;
  const flaws: string[] = [];
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

  const killPoint = (): KillPoint | undefined => {
    if (isOver || random() >= aimedShare) return undefined;
    const at = points[Math.floor(random() * points.length)] ?? "model.started";
    return { when: random() < 0.5 ? "before" : "after", at, count: 1 + Math.floor(random() * 4) };
  };

  /** Sees to it that there is always a node in this place. */
  const live = async (index: number): Promise<void> => {
    let node = world.nodes[index];
    let killAt: KillPoint | undefined;
    for (;;) {
      // `undefined`: it killed itself before it was ready. A node that ends by anything but a kill is a failure, which the world reports.
      const isKill = node === undefined || (await node.ended) === "SIGKILL";
      const isByKiller = killed.delete(node);
      if (isKill && (isByKiller || killAt)) kills += 1;
      else if (isKill) flaws.push(`node${index} was killed, and not by the rig`);
      if (isKill && killAt && !isByKiller) aimed += 1;
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
    async kill(wanted, onProgress) {
      const lives = world.nodes.map((_, index) => live(index));
      const failed = Promise.all(lives);
      while (kills < wanted) {
        const isBurst = random() < burstShare;
        await Promise.race([pause(isBurst ? 20 : waitMs()), failed]);
        const alive = world.nodes.filter((node) => node?.isAlive && !killed.has(node));
        // A node works most of the time, or there would be little to kill.
        if (alive.length > 1 || isBurst) kill(alive[Math.floor(random() * alive.length)]);
        onProgress(kills);
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
