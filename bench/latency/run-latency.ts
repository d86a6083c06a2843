import { runProcess } from "../process-runner.ts";
import type { Row } from "../row.ts";
import type { LatencyFigures } from "./measure-latency.ts";

/** Beginning of the ids: a section of the page by itself, and only measured when it is asked for. */
export const latencyStart = "latency";

const goalPercent = 1;

/** How far what operators read lies from what the vendor's side recorded. */
export async function latencyRows(): Promise<readonly Row[]> {
  const { compared, readMs } = await runProcess<LatencyFigures>("latency/measure-latency.ts");
  const ascending = [...readMs].sort((a, b) => a - b);
  return [
    ...compared.map(
      ({ what, reportedMs, recordedMs }): Row => ({
        id: `latency-${what.replaceAll(" ", "-")}`,
        title: `${what}, how far off`,
        basis: `${recordedMs.toFixed(1)} ms recorded, ${reportedMs.toFixed(1)} ms reported`,
        loopwright: { value: (Math.abs(reportedMs - recordedMs) / recordedMs) * 100, goal: goalPercent },
        format: "%",
      }),
    ),
    {
      id: "latency-read",
      title: "an answer of `/dev/ai-latency` meanwhile, p99",
      basis: `${readMs.length} answers`,
      loopwright: { value: ascending[Math.ceil(0.99 * ascending.length) - 1] ?? Number.NaN },
      format: "ms",
    },
  ];
}
