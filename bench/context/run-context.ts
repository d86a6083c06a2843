import { createStorePlace } from "../durable/store-place.ts";
import { median } from "../median.ts";
import { runProcess } from "../process-runner.ts";
import type { Row } from "../row.ts";
import { type ContextScene, compared } from "./context-scenes.ts";
import type { ContextFigures } from "./measure-context.ts";

const script = "context/measure-context.ts";

/** A turn costs the same however long the session is. */
const ratioGoal = 1.2;

/** Every round in a process and on a store of its own. */
export async function measureContext({ store, id }: ContextScene, rounds: number): Promise<readonly ContextFigures[]> {
  const made: ContextFigures[] = [];
  for (let round = 0; round < rounds; round++) {
    const { place, remove } = await createStorePlace(store);
    try {
      made.push(await runProcess<ContextFigures>(script, [id, place]));
    } finally {
      await remove();
    }
  }
  return made;
}

/** What the old turns cost beside the young ones of the same process. */
export function contextRows({ id, title }: ContextScene, figures: readonly ContextFigures[]): readonly Row[] {
  const from = compared.young;
  const at = compared.old.toLocaleString("en");
  const row = (name: string, basis: string, ratios: readonly number[]): Row => ({
    id: `${id}-${name.toLowerCase()}`,
    title: `${name}, turn ${at} beside turn ${from}, ${title}`,
    basis,
    loopwright: { value: median(ratios), goal: ratioGoal },
    spread: ratios.length < 2 ? "" : `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
  });
  const middle = (name: keyof ContextFigures): number => median(figures.map((one) => one[name]));
  return [
    row(
      "CPU",
      `${middle("youngCpuUs").toFixed(0)} µs a turn (= 1)`,
      figures.map(({ youngCpuUs, oldCpuUs }) => oldCpuUs / youngCpuUs),
    ),
    row(
      "Tokens",
      `${middle("youngTokens").toFixed(0)} tokens a turn (= 1), ${middle("compactions")} compactions`,
      figures.map(({ youngTokens, oldTokens }) => oldTokens / youngTokens),
    ),
  ];
}
