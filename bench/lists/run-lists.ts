import { createStorePlace, storeMissing } from "../durable/store-place.ts";
import { runProcess } from "../process-runner.ts";
import type { Row } from "../row.ts";
import { asked, filledAtOnce, type ListScene } from "./list-scenes.ts";
import type { ListFigures } from "./measure-lists.ts";

const script = "lists/measure-lists.ts";
const goalMs = 50;

/** Fills a store and asks it. A store that cannot be had gives no rows. */
export async function listRows(scene: ListScene): Promise<readonly Row[]> {
  const { id, store, sessions, title } = scene;
  const missing = storeMissing(store);
  if (missing !== undefined) {
    console.log(`${id}: not measured, ${missing}.`);
    return [];
  }
  const { place, remove } = await createStorePlace(store);
  try {
    if (store !== "memory")
      for (let from = 0; from < sessions; from += filledAtOnce)
        await runProcess(script, [id, place, `${from}`, `${Math.min(sessions, from + filledAtOnce)}`]);
    const { listMs, searchMs, heapMb } = await runProcess<ListFigures>(script, [id, place]);
    const count = sessions.toLocaleString("en");
    return [
      row({ id: `${id}-page`, title: `a page of ${asked.pageSize} of ${count} sessions, p99, ${title}`, tookMs: listMs }),
      row({ id: `${id}-search`, title: `a search in ${count} sessions, p99, ${title}`, tookMs: searchMs }),
      {
        id: `${id}-heap`,
        title: `memory that these took, ${title}`,
        basis: "resident, after the first ones",
        loopwright: { value: heapMb },
        format: "MB",
      },
    ];
  } finally {
    await remove();
  }
}

function row({ id, title, tookMs }: { readonly id: string; readonly title: string; readonly tookMs: readonly number[] }): Row {
  const ascending = [...tookMs].sort((a, b) => a - b);
  const at = (percent: number): number => ascending[Math.ceil((percent / 100) * ascending.length) - 1] ?? Number.NaN;
  return {
    id,
    title,
    basis: `${at(50).toFixed(1)} ms, p50`,
    loopwright: { value: at(99), goal: goalMs },
    format: "ms",
    spread: `up to ${at(100).toFixed(0)} ms`,
  };
}
