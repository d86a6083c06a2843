/* One scene in a process of its own: `measure-lists.ts <scene> <place> [<from> <to>]`. With two numbers it writes these sessions. Prints JSON. */
import type { SessionStore, SessionSummary } from "@loopwright/core/ports";
import { openStore } from "../durable/store-place.ts";
import { fillStore, wordOf, wordShares } from "./fill-store.ts";
import { asked, type ListScene, listScenes } from "./list-scenes.ts";

/** Milliseconds of each question, and how much memory they took in MB. */
export interface ListFigures {
  readonly listMs: readonly number[];
  readonly searchMs: readonly number[];
  readonly heapMb: number;
}

const scope = "garden";

async function timed<T>(tookMs: number[], ask: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const answer = await ask();
  tookMs.push(performance.now() - startedAt);
  return answer;
}

/** Pages from the newest on, each behind the one before, and searches for words of every rarity. */
async function ask({ sessions }: ListScene, { index }: SessionStore): Promise<ListFigures> {
  const words = wordShares.map(wordOf);
  // The first questions fold what was written, and are not measured.
  for (let before: SessionSummary | undefined, page = 0; page < asked.pages; page++)
    before = (await index.list(scope, { limit: asked.pageSize, ...(before ? { before } : {}) })).at(-1);
  for (const word of words) await index.search(scope, word, { limit: asked.hits });
  globalThis.gc?.();
  const heapBefore = process.memoryUsage().rss;
  const [listMs, searchMs]: [number[], number[]] = [[], []];
  let before: SessionSummary | undefined;
  for (let page = 0; page < asked.pages; page++) {
    const found = await timed(listMs, () => index.list(scope, { limit: asked.pageSize, ...(before ? { before } : {}) }));
    if (found.length !== asked.pageSize) throw new Error(`A page has ${found.length} sessions.`);
    const [first] = found;
    if (first?.id !== `s${sessions - 1 - page * asked.pageSize}`) throw new Error(`The page ${page} begins with ${first?.id}.`);
    before = found.at(-1);
  }
  for (let count = 0; count < asked.searches; count++) {
    const word = words[count % words.length] ?? "";
    const hits = await timed(searchMs, () => index.search(scope, word, { limit: asked.hits }));
    // A store that searches its newest sessions alone may not find a rare word.
    if (hits.length === 0 && !word.endsWith("10000")) throw new Error(`Nothing was found for ${word}.`);
  }
  return { listMs, searchMs, heapMb: (process.memoryUsage().rss - heapBefore) / 1e6 };
}

const [sceneId, place, from, to] = process.argv.slice(2);
const scene = listScenes.find(({ id }) => id === sceneId);
if (!scene || place === undefined) throw new Error("Usage: measure-lists.ts <scene> <place> [<from> <to>]");
const store = openStore(place);
let figures: ListFigures | undefined;
if (from !== undefined) await fillStore(store, scope, { from: Number(from), to: Number(to) });
else {
  // Only this process has the memory.
  if (scene.store === "memory") await fillStore(store, scope, { from: 0, to: scene.sessions });
  figures = await ask(scene, store);
}
await store.close();
process.stdout.write(JSON.stringify(figures ?? {}), () => process.exit(0));
