import type { Row } from "./row.ts";
import type { SceneResults } from "./run-rounds.ts";
import { memoryRow, sceneRow } from "./scene-rows.ts";
import type { Scene } from "./scenes.ts";

/** What one scene of a young process states. */
export const youngRows = (scene: Scene, results: SceneResults): readonly Row[] => [
  sceneRow(scene, results),
  ...(scene.concurrency > 1 ? [memoryRow(scene, results)] : []),
];
