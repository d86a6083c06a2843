import type { ContenderName } from "./contenders/contender.ts";
import type { Measurement } from "./measurement.ts";
import { median } from "./median.ts";
import type { Row } from "./row.ts";
import type { SceneResults } from "./run-rounds.ts";
import { type Scene, scenes } from "./scenes.ts";

export type AllResults = ReadonlyMap<string, SceneResults>;

/** Largest ratio to the vendor's SDK: over global fetch, and over node:http. What is not here is not judged. */
const goals: Readonly<Record<string, { readonly loopwright: number; readonly node: number }>> = {
  "deltas-64": { loopwright: 0.6, node: 0.4 },
  "deltas-1": { loopwright: 0.6, node: 0.5 },
  "loop-10": { loopwright: 1, node: 0.8 },
  "loop-100": { loopwright: 1, node: 0.8 },
  "loop-400": { loopwright: 1, node: 0.8 },
  "arguments-1024": { loopwright: 0.5, node: 0.5 },
  concurrent: { loopwright: 0.8, node: 0.8 },
  "history-10000": { loopwright: 1.2, node: 1.2 },
  parallel: { loopwright: 1, node: 1 },
  "young-deltas-64": { loopwright: 0.45, node: 0.3 },
  "young-deltas-1": { loopwright: 0.6, node: 0.45 },
  "young-loop-10": { loopwright: 1.1, node: 0.9 },
  "young-loop-100": { loopwright: 1, node: 0.8 },
  "young-loop-400": { loopwright: 0.95, node: 0.75 },
  "young-concurrent": { loopwright: 0.8, node: 0.8 },
  "young-parallel": { loopwright: 1, node: 1 },
  "young-history-10": { loopwright: 1.1, node: 1.1 },
  "young-history-1000": { loopwright: 0.9, node: 0.9 },
};
const growthGoal = 1.1;
const linearGoal = 1.2;
const peakGoalMb = 300;
/** A turn writes about nine pages of 4 KB: one page more or less is no growth. */
const writtenGoal = 1.25;

type Figure = (measurement: Measurement) => number;
const cpu: Figure = ({ cpuUs }) => cpuUs;

/** The median over the rounds of one figure. */
export function middle(results: SceneResults, contender: ContenderName, figure: Figure = cpu): number {
  return median(results[contender].map(figure));
}

const cpuBasis = (us: number, unit: string): string => `${us >= 1000 ? `${(us / 1000).toFixed(2)} ms` : `${us.toFixed(1)} µs`} a ${unit}`;

/** What one scene prints: the CPU time of its unit, or the time of a run where that is what it compares. */
export function sceneRow(scene: Scene, results: SceneResults): Row {
  const isWall = scene.compares === "wall";
  const figure: Figure = isWall ? ({ wallMs }) => wallMs : cpu;
  const basis = middle(results, "sdk", figure);
  const goal = goals[scene.id];
  const ratio = (name: ContenderName): number => middle(results, name, figure) / basis;
  return {
    id: scene.id,
    title: `${isWall ? "time" : "CPU"}, ${scene.title}`,
    basis: isWall ? `${basis.toFixed(1)} ms` : cpuBasis(basis, scene.unit),
    raw: ratio("raw"),
    rawNode: ratio("raw-node"),
    loopwright: { value: ratio("loopwright"), ...(goal ? { goal: goal.loopwright } : {}) },
    node: { value: ratio("loopwright-node"), ...(goal ? { goal: goal.node } : {}) },
  };
}

interface Comparison {
  readonly id: string;
  readonly title: string;
  readonly basis: string;
  readonly small: string;
  readonly large: string;
  readonly goal: number;
  /** Divide by the growth of fetch and SSE by hand. */
  readonly besideRaw?: boolean;
  readonly figure?: Figure;
}

/** How one figure grows from a small scene to a large one. */
function growthRow(all: AllResults, { small, large, goal, besideRaw, figure = cpu, ...row }: Comparison): readonly Row[] {
  const before = all.get(small);
  const after = all.get(large);
  if (!before || !after) return [];
  const growth = (name: ContenderName): number => middle(after, name, figure) / middle(before, name, figure);
  const basis = besideRaw ? growth("raw") : 1;
  return [
    {
      ...row,
      ...(figure === cpu ? { raw: growth("raw") / basis, rawNode: growth("raw-node") / basis } : {}),
      loopwright: { value: growth("loopwright") / basis, goal },
      node: { value: growth("loopwright-node") / basis, goal },
    },
  ];
}

/** The peak memory of a scene with a crowd. */
export function memoryRow({ id, title }: Scene, results: SceneResults): Row {
  const peak = (name: ContenderName): number => middle(results, name, ({ peakMb }) => peakMb);
  return {
    id: `${id}-memory`,
    title: `peak memory, ${title}`,
    basis: `${peak("sdk").toFixed(0)} MB`,
    format: "MB",
    raw: peak("raw"),
    rawNode: peak("raw-node"),
    loopwright: { value: peak("loopwright"), goal: peakGoalMb },
    node: { value: peak("loopwright-node"), goal: peakGoalMb },
  };
}

/** Reported, not judged: what one turn writes, and what opening a long session takes. */
function storeRows(all: AllResults): readonly Row[] {
  return scenes.flatMap((scene): readonly Row[] => {
    const results = all.get(scene.id);
    if (!results || !scene.isStored) return [];
    const { history = 0 } = scene;
    const messages = history.toLocaleString("en");
    const figure = (of: Figure): Pick<Row, "loopwright" | "node"> => ({
      loopwright: { value: middle(results, "loopwright", of) },
      node: { value: middle(results, "loopwright-node", of) },
    });
    const written: Row = {
      id: `${scene.id}-written`,
      title: `written to disk, one turn on ${messages} messages`,
      basis: "no store",
      format: "KB",
      ...figure(({ writtenBytes = Number.NaN }) => writtenBytes / 1024),
    };
    const opened: Row = {
      id: `${scene.id}-open`,
      title: `CPU, cold open of ${messages} messages`,
      basis: "no store",
      format: "ms",
      ...figure(({ open }) => open?.cpuMs ?? Number.NaN),
    };
    return [written, opened];
  });
}

/** Everything that the scenes of hot processes give, in the order of the table. */
export function sceneRows(all: AllResults): readonly Row[] {
  const rows = scenes.flatMap((scene) => {
    const results = all.get(scene.id);
    return results ? [sceneRow(scene, results)] : [];
  });
  const growth = [
    ...growthRow(all, {
      id: "loop-growth",
      title: "growth of a turn's CPU from 10 to 1,000 turns",
      basis: "growth of fetch + SSE",
      small: "loop-10",
      large: "loop-1000",
      goal: growthGoal,
      besideRaw: true,
    }),
    ...growthRow(all, {
      id: "arguments-linear",
      title: "growth of a KB's CPU from 100 KB to 1 MB of arguments",
      basis: "1 = linear",
      small: "arguments-100",
      large: "arguments-1024",
      goal: linearGoal,
    }),
    ...growthRow(all, {
      id: "history-constant",
      title: "growth of what a turn writes from 10 to 10,000 messages",
      basis: "1 = constant",
      small: "history-10",
      large: "history-10000",
      goal: writtenGoal,
      figure: ({ writtenBytes = Number.NaN }) => writtenBytes,
    }),
  ];
  const memory = scenes.flatMap((scene) => {
    const results = scene.concurrency > 1 ? all.get(scene.id) : undefined;
    return results ? [memoryRow(scene, results)] : [];
  });
  return [...rows, ...growth, ...memory, ...storeRows(all)];
}
