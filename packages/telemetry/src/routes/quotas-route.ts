import { quotaStandings, type StandingOptions } from "../quotas/quota-standing.ts";
import { jsonAnswer, type TelemetryRoute } from "./telemetry-route.ts";

/** `GET /api/quotas`: the limits of the caller and of its scope, what is spent, and when they begin anew. */
export function quotasRoute(options: StandingOptions): TelemetryRoute {
  return {
    method: "GET",
    path: "/api/quotas",
    id: "quotas",
    summary: "The limits of the caller and of its scope, and what is left of them.",
    async handle({ principal: { scope, user } }) {
      return jsonAnswer({ quotas: await quotaStandings([`user/${scope}/${user}`, `scope/${scope}`], options) });
    },
  };
}
