import { AgentError } from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import type { Clock } from "@loopwright/core/ports";
import type { EventStore } from "../events/event-store.ts";
import { type LatencyRecord, latencyStream } from "../latency/latency-record.ts";
import { latencyReport } from "../latency/latency-report.ts";
import { jsonAnswer, type ReachOf, reachByTrust, type TelemetryRoute } from "./telemetry-route.ts";

export interface LatencyRouteOptions {
  readonly events: EventStore;
  readonly clock?: Pick<Clock, "now">;
  /** A caller that does not reach its whole scope is refused: latencies belong to no user. */
  readonly reachOf?: ReachOf;
}

/** The rolling window. */
export const latencyWindowMs = 3_600_000;

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
      const found = await events.read(latencyStream, { from, ...(reach === "scope" ? { scope: principal.scope } : {}) });
      return jsonAnswer(
        latencyReport(
          found.map(({ data }) => data as LatencyRecord),
          { from, to },
        ),
      );
    },
  };
}
