import { median } from "../median.ts";
import type { Row } from "../row.ts";
import { type AppendScene, type DurableScene, type OpenScene, type TurnScene, turnBasisFacts } from "./durable-scenes.ts";
import type { DurableFigures } from "./measure-durable.ts";

/** Figures by scene. */
export type DurableResults = ReadonlyMap<string, DurableFigures>;

/** Of Redis on two cores, `everysec`: 16,000 appends a second, the slowest of a hundred in 24 ms. */
const appendGoals: Readonly<Record<string, { readonly us: number; readonly p99Ms: number }>> = {
  "redis-everysec": { us: 1e6 / 16_000, p99Ms: 24 },
};
/** A turn costs the same however long the session is, but for the noise of a larger heap. */
const turnGoal = 1.25;

const middle = (figures: DurableFigures | undefined, name: string): number => median(figures?.[name] ?? []);

function range(values: readonly number[], digits: number): string {
  return values.length < 2 ? "" : `${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)}`;
}

function appendRows({ id, title, store, writers, factBytes }: AppendScene, figures: DurableFigures): readonly Row[] {
  const perSecond = figures["perSecond"] ?? [];
  const goals = appendGoals[store];
  const what = `${writers} writers, facts of ${factBytes} bytes`;
  return [
    {
      id,
      title: `append, ${title}`,
      basis: `${Math.round(median(perSecond)).toLocaleString("en")} a second, ${what}`,
      loopwright: { value: 1e6 / median(perSecond), ...(goals ? { goal: goals.us } : {}) },
      format: "µs",
      spread: range(
        perSecond.map((value) => 1e6 / value),
        0,
      ),
    },
    {
      id: `${id}-p99`,
      title: `until it is acknowledged, p99, ${title}`,
      basis: `${middle(figures, "p50Ms").toFixed(2)} ms, p50`,
      loopwright: { value: middle(figures, "p99Ms"), ...(goals ? { goal: goals.p99Ms } : {}) },
      format: "ms",
      spread: range(figures["p99Ms"] ?? [], 1),
    },
  ];
}

function turnRow({ id, title, store, facts }: TurnScene, figures: DurableFigures, results: DurableResults): Row {
  const basis = middle(results.get(`durable-turn-${store}-${turnBasisFacts}`), "cpuUs");
  const own = middle(figures, "cpuUs");
  const isBasis = facts === turnBasisFacts;
  return {
    id,
    title: `CPU, ${title}`,
    basis: `${own.toFixed(0)} µs${isBasis ? " (= 1)" : ""}`,
    loopwright: { value: own / basis, ...(isBasis ? {} : { goal: turnGoal }) },
    spread: range(
      (figures["cpuUs"] ?? []).map((value) => value / basis),
      2,
    ),
  };
}

function openRow({ id, title }: OpenScene, figures: DurableFigures): Row {
  return {
    id,
    title,
    basis: `${middle(figures, "cpuMs").toFixed(0)} ms of CPU`,
    loopwright: { value: middle(figures, "openMs") },
    format: "ms",
    spread: range(figures["openMs"] ?? [], 0),
  };
}

/** What one scene prints, in the order of the table; `results` has the scenes before it. Nothing where it could not be measured. */
export function durableRows(scene: DurableScene, results: DurableResults): readonly Row[] {
  const figures = results.get(scene.id) ?? {};
  if (Object.keys(figures).length === 0) return [];
  switch (scene.kind) {
    case "append":
      return appendRows(scene, figures);
    case "turn":
      return [turnRow(scene, figures, results)];
    case "open":
      return [openRow(scene, figures)];
  }
}
