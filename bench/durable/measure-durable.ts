/* One scene on one store, in a process of its own: `measure-durable.ts <scene> <place> [prepare]`. Prints JSON. */
import { measureAppends } from "./append-load.ts";
import { type DurableScene, durableScenes } from "./durable-scenes.ts";
import { measureOpening, prepareOpening } from "./open-load.ts";
import { openStore } from "./store-place.ts";
import { measureTurns } from "./turn-load.ts";

/** Figures by name, every one a list of what was seen. */
export type DurableFigures = Readonly<Record<string, readonly number[]>>;

const [sceneId, place, step] = process.argv.slice(2);
const wanted = durableScenes.find(({ id }) => id === sceneId);
if (!wanted || place === undefined) throw new Error("Usage: measure-durable.ts <scene> <place> [prepare]");
const store = openStore(place);

async function figuresOf(scene: DurableScene): Promise<DurableFigures> {
  switch (scene.kind) {
    case "append":
      return measureAppends(scene, store);
    case "turn":
      return measureTurns(scene, store);
    case "open":
      if (step !== "prepare") return measureOpening(scene, store);
      await prepareOpening(scene, store);
      return {};
  }
}

const figures = await figuresOf(wanted);
await store.close();
process.stdout.write(JSON.stringify(figures), () => process.exit(0));
