import { runProcess } from "../process-runner.ts";
import type { DurableScene } from "./durable-scenes.ts";
import type { DurableFigures } from "./measure-durable.ts";
import { createStorePlace, storeMissing } from "./store-place.ts";

const script = "durable/measure-durable.ts";

/** Every round on a store of its own, but for openings, which share what is expensive to write. A store that cannot be had gives no figures. */
export async function measureDurable(scene: DurableScene, rounds: number): Promise<DurableFigures> {
  const missing = storeMissing(scene.store);
  if (missing !== undefined) {
    console.log(`${scene.id}: not measured, ${missing}.`);
    return {};
  }
  const made: DurableFigures[] = [];
  if (scene.kind === "open") {
    const { place, remove } = await createStorePlace(scene.store);
    try {
      await runProcess(script, [scene.id, place, "prepare"]);
      for (let round = 0; round < rounds; round++) made.push(await runProcess<DurableFigures>(script, [scene.id, place]));
    } finally {
      await remove();
    }
  } else {
    for (let round = 0; round < rounds; round++) {
      const { place, remove } = await createStorePlace(scene.store);
      try {
        made.push(await runProcess<DurableFigures>(script, [scene.id, place]));
      } finally {
        await remove();
      }
    }
  }
  return joined(made);
}

function joined(all: readonly DurableFigures[]): DurableFigures {
  const figures: Record<string, number[]> = {};
  for (const one of all)
    for (const [name, values] of Object.entries(one)) {
      const known = figures[name] ?? [];
      known.push(...values);
      figures[name] = known;
    }
  return figures;
}
