import { checkEnds } from "../check/check-ends.ts";
import type { Ground, GroundPlan } from "../world/ground.ts";
import { startWorld, type World, type WorldOptions } from "../world/world.ts";
import type { Experiment, Outcome } from "./experiment.ts";

export interface WorldPlan extends Omit<WorldOptions, "ground"> {
  readonly name: string;
  readonly ground: GroundPlan;
  /** Measures time: nothing else may run. */
  readonly isTimed?: boolean;
}

/** What an experiment has at hand. */
export interface Scene {
  readonly world: World;
  readonly ground: Ground;
  readonly seed: number;
  /** Prints the progress. */
  say(line: string): void;
}

/** By the hand of the rig, or in order after it was asked to. */
const endsWanted = ["SIGKILL", 0] as const;

/** An experiment on a world of its own, which is gone afterwards. */
export function inWorld(
  { name, ground: plan, isTimed = false, ...options }: WorldPlan,
  act: (scene: Scene) => Promise<Outcome>,
): Experiment {
  return {
    name,
    isTimed,
    ...(plan.skip ? { skip: plan.skip } : {}),
    async run(seed, notify) {
      const ground = await plan.lay(seed);
      try {
        const world = await startWorld({ ...options, ground });
        try {
          const { figures, failures } = await act({ world, ground, seed, say: (line) => notify(`${name}: ${line}`) });
          return { figures, failures: [...failures, ...checkEnds(world.endings, endsWanted), ...world.hunt.flaws] };
        } finally {
          await world.close();
        }
      } finally {
        await ground.close();
      }
    },
  };
}
