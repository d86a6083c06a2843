import { median } from "../median.ts";
import type { Row } from "../row.ts";
import type { CrowdScene, FanOutScene, FirstTokenScene, HttpScene, IdleScene } from "./http-scenes.ts";
import { type HttpResults, inProcess } from "./run-http.ts";

const fanOutGoals: Readonly<Record<number, number>> = { 200: 1.3 };
const firstTokenGoal = 1.1;
const crowdGoal = 1.5;
const idleGoalKb = 25;

/** The value that so many of 100 are not above. */
function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

const of = (results: HttpResults, server: string, figure: string): readonly number[] => results[server]?.[figure] ?? [];
const middle = (results: HttpResults, server: string, figure: string): number => median(of(results, server, figure));

/** From the least to the most of the rounds. */
function range(values: readonly number[]): string {
  return values.length < 2 ? "" : `${Math.min(...values).toFixed(1)} to ${Math.max(...values).toFixed(1)}`;
}

/** How far the ratios of single rounds lie from one another. */
function spread(values: readonly number[], basis: readonly number[]): string {
  const ratios = values.map((value, round) => value / (basis[round] ?? Number.NaN));
  return ratios.length < 2 ? "" : `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
}

function fanOutRow({ id, title, watchers }: FanOutScene, results: HttpResults): Row {
  const basis = middle(results, "node", "cpuUs");
  const goal = fanOutGoals[watchers];
  return {
    id,
    title: `CPU, ${title}`,
    basis: `${basis.toFixed(1)} µs, plain \`node:http\``,
    raw: middle(results, "hono", "cpuUs") / basis,
    loopwright: { value: middle(results, "loopwright", "cpuUs") / basis, ...(goal === undefined ? {} : { goal }) },
    spread: spread(of(results, "loopwright", "cpuUs"), of(results, "node", "cpuUs")),
  };
}

function firstTokenRows({ id, title }: FirstTokenScene, results: HttpResults): readonly Row[] {
  const direct = of(results, "loopwright", "directMs");
  const served = of(results, "loopwright", "servedMs");
  return [50, 99].map((percent): Row => {
    const basis = percentile(direct, percent);
    return {
      id: `${id}-p${percent}`,
      title: `${title}, p${percent}`,
      basis: `${basis.toFixed(1)} ms, \`openai\` SDK directly`,
      loopwright: { value: percentile(served, percent) / basis, goal: firstTokenGoal },
    };
  });
}

function crowdRows({ id, title }: CrowdScene, results: HttpResults): readonly Row[] {
  const basis = middle(results, inProcess, "cpuUs");
  const peak = middle(results, inProcess, "peakMb");
  return [
    {
      id,
      title: `CPU, ${title}`,
      basis: `${(basis / 1000).toFixed(2)} ms a run, in process`,
      loopwright: { value: middle(results, "loopwright", "cpuUs") / basis, goal: crowdGoal },
      spread: spread(of(results, "loopwright", "cpuUs"), of(results, inProcess, "cpuUs")),
    },
    {
      id: `${id}-memory`,
      title: `peak memory, ${title}`,
      basis: `${peak.toFixed(0)} MB, in process`,
      loopwright: { value: middle(results, "loopwright", "peakMb") },
      format: "MB",
    },
  ];
}

function idleRows({ id, title }: IdleScene, results: HttpResults): readonly Row[] {
  return [
    { name: "resident memory", figure: "rssKb", goal: idleGoalKb },
    { name: "heap and buffers", figure: "heapKb" },
  ].map(
    ({ name, figure, goal }): Row => ({
      id: `${id}-${figure}`,
      title: `${name}, ${title}`,
      basis: `${middle(results, "node", figure).toFixed(1)} KB, plain \`node:http\``,
      raw: middle(results, "hono", figure),
      loopwright: { value: middle(results, "loopwright", figure), ...(goal === undefined ? {} : { goal }) },
      format: "KB",
      spread: range(of(results, "loopwright", figure)),
    }),
  );
}

/** What one scene prints, in the order of the table. */
export function httpRows(scene: HttpScene, results: HttpResults): readonly Row[] {
  switch (scene.kind) {
    case "fan-out":
      return [fanOutRow(scene, results)];
    case "first-token":
      return firstTokenRows(scene, results);
    case "crowd":
      return crowdRows(scene, results);
    case "idle":
      return idleRows(scene, results);
  }
}
