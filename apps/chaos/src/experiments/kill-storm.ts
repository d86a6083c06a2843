/* K1 to K5: nodes die by kill -9 while people talk, in tools, in waits and in recoveries; each is started again at once. */
import type { FactType } from "@loopwright/core";
import { seededRandom } from "@loopwright/core/testing";
import type { GroundPlan } from "../world/ground.ts";
import type { KillPoint } from "../world/node-settings.ts";
import { startWorld } from "../world/world.ts";
import { gatherCrowd } from "./crowd.ts";
import type { Experiment, Outcome } from "./experiment.ts";

export interface StormOptions {
  readonly ground: GroundPlan;
  readonly nodes: number;
  readonly sessions: number;
  readonly kills: number;
  readonly leaseMs: number;
}

/** Where a node may be told to kill itself. */
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
  "run.finished" satisfies FactType,
  "abort.requested" satisfies FactType,
  "witness-start",
  "witness-end",
];

/** How long a node that waits for its fact may live. */
const patienceMs = 4_000;
const aimedShare = 0.3;
const gapMsMax = 700;
/** Deaths of one node in a row, a fraction of a second apart: recoveries are killed as well. */
const burstShare = 0.15;

export function killStorm({ ground: plan, nodes, sessions, kills, leaseMs }: StormOptions): Experiment {
  const name = `kills-${plan.name}`;
  return {
    name,
    ...(plan.skip ? { skip: plan.skip } : {}),
    async run(seed, say): Promise<Outcome> {
      const random = seededRandom(seed);
      const ground = await plan.lay(seed);
      const world = await startWorld({ ground, nodes, leaseMs });
      const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
      try {
        const crowd = await gatherCrowd({
          world,
          sessions,
          random: seededRandom(seed + 1),
          taste: {
            tools: ["pay", "book", "read", "ask"],
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
        let aimed = 0;
        for (let kill = 1; kill <= kills; kill++) {
          const index = Math.floor(random() * world.nodes.length);
          const node = world.nodes[index] ?? (await world.start(index));
          if (random() >= burstShare) await pause(random() * gapMsMax);
          node.signal("SIGKILL");
          await node.ended;
          const killAt: KillPoint | undefined =
            random() < aimedShare && kill < kills
              ? {
                  when: random() < 0.5 ? "before" : "after",
                  at: deadly[Math.floor(random() * deadly.length)] ?? "model.started",
                  count: 1 + Math.floor(random() * 4),
                }
              : undefined;
          const next = await world.start(index, killAt ? { killAt } : {}).catch((error: unknown) => {
            // It may meet its fact before it is ready.
            if (!killAt) throw error;
          });
          if (killAt) {
            const hasDied = !next || (await Promise.race([next.ended.then(() => true), pause(patienceMs).then(() => false)]));
            if (hasDied) {
              kill += 1;
              aimed += 1;
            } else next?.signal("SIGKILL");
            await next?.ended;
            await world.start(index);
          }
          if (kill % 25 < 2) say(`${name}: ${Math.min(kill, kills)} of ${kills} kills`);
        }
        const judged = await crowd.judge();
        return {
          failures: judged.flaws,
          figures: [
            { name: "kills", value: kills, bound: { least: kills } },
            { name: "kills aimed at a fact or a side effect", value: aimed },
            { name: "sessions at once", value: sessions },
            { name: "acknowledged inputs", value: judged.inputs },
            { name: "acknowledged inputs lost", value: judged.lost, bound: { exactly: 0 } },
            { name: "inputs doubled", value: judged.doubled, bound: { exactly: 0 } },
            { name: "double starts of once tools", value: judged.doubleStarts, bound: { exactly: 0 } },
            { name: "calls in doubt", value: judged.inDoubt },
            { name: "calls in doubt that were reported", value: judged.inDoubtReported, bound: { exactly: judged.inDoubt } },
            { name: "reconnects of watchers", value: judged.reconnects },
            { name: "answers whose deltas added up", value: judged.wholeTexts },
            { name: "facts", value: judged.facts },
            { name: "until all rested", value: Math.round(judged.restedAfterMs), unit: "ms" },
          ],
        };
      } finally {
        await world.close();
        await ground.close();
      }
    },
  };
}
