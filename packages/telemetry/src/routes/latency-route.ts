import { AgentError } from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import type { Clock } from "@loopwright/core/ports";
import type { EventStore } from "../events/event-store.ts";
import { type LatencyRecord, latencyStream } from "../latency/latency-record.ts";
import { type LatencyReport, LatencyTally } from "../latency/latency-report.ts";
import { jsonAnswer, type ReachOf, reachByTrust, type TelemetryRoute } from "./telemetry-route.ts";

export interface LatencyRouteOptions {
  readonly events: EventStore;
  readonly clock?: Pick<Clock, "now">;
  /** A caller that does not reach its whole scope is refused: latencies belong to no user. */
  readonly reachOf?: ReachOf;
}

/** The rolling window. */
export const latencyWindowMs = 3_600_000;

/** Turns that are read at once, between which other work has its turn; and those of one report, the newest of the window. */
const latencyLimits: { readonly pageTurns: number; readonly turnsMax: number } = { pageTurns: 5_000, turnsMax: 100_000 };

/** `GET /dev/ai-latency`: the last 60 minutes. Leave it out where it is not wanted: then the answer is 404. */
export function latencyRoute({ events, clock = systemClock, reachOf = reachByTrust }: LatencyRouteOptions): TelemetryRoute {
  return {
    method: "GET",
    path: "/dev/ai-latency",
    id: "ai-latency",
    summary: "Latency of the last 60 minutes by model and tool.",
    async handle({ principal }) {
      const reach = reachOf(principal);
      if (reach === "user") throw new AgentError("FORBIDDEN", { message: "The caller may not see the latency of its scope." });
      const to = clock.now();
      const from = to - latencyWindowMs;
      return jsonAnswer(await reportOf(events, { from, to, ...(reach === "scope" ? { scope: principal.scope } : {}) }));
    },
  };
}

/** Reads the window in pages, the newest first, and keeps numbers alone. Where `turnsMax` is reached, the report begins with the oldest turn that was read. */
async function reportOf(
  events: EventStore,
  { to, ...query }: { readonly from: number; readonly to: number; readonly scope?: string },
): Promise<LatencyReport> {
  const { pageTurns, turnsMax } = latencyLimits;
  const tally = new LatencyTally({ from: query.from, to });
  for (let read = 0, before: string | undefined; ; ) {
    const page = await events.read(latencyStream, { ...query, limit: pageTurns, ...(before === undefined ? {} : { before }) });
    tally.add(page.map(({ data }) => data as LatencyRecord));
    const [oldest] = page;
    if (!oldest || page.length < pageTurns) return tally.report();
    read += page.length;
    if (read >= turnsMax) return tally.report({ from: oldest.at });
    before = oldest.cursor;
    await new Promise((resolve) => void setTimeout(resolve, 0));
  }
}
