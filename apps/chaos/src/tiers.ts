import type { Experiment } from "./experiments/experiment.ts";
import { killStorm } from "./experiments/kill-storm.ts";
import { sqliteGround } from "./world/ground.ts";

const tiers = ["pr", "nightly", "release"] as const;
export type Tier = (typeof tiers)[number];

export function isTier(text: string): text is Tier {
  return tiers.some((tier) => tier === text);
}

/** By tier. */
type Counts = { readonly [tier in Tier]: number };

const storms: Counts = { pr: 40, nightly: 1_000, release: 5_000 };

/** What a tier is made of. */
export function experimentsOf(tier: Tier): readonly Experiment[] {
  return [killStorm({ ground: sqliteGround, nodes: 2, sessions: 20, kills: storms[tier], leaseMs: 1_000 })];
}
