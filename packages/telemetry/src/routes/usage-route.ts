import { AgentError } from "@loopwright/core";
import { type UsageDimension, type UsageQuery, type UsageStore, usageDimensions } from "../usage/usage-entry.ts";
import { jsonAnswer, type ReachOf, reachByTrust, type TelemetryPrincipal, type TelemetryRoute } from "./telemetry-route.ts";

export interface UsageRouteOptions {
  readonly usage: UsageStore;
  readonly reachOf?: ReachOf;
}

/** `GET /api/usage?by=day,model&from=2026-11-01&to=2026-11-30&user=anne&scope=team`: tokens and cost, of what the caller may see. */
export function usageRoute({ usage, reachOf = reachByTrust }: UsageRouteOptions): TelemetryRoute {
  return {
    method: "GET",
    path: "/api/usage",
    id: "usage",
    summary: "Tokens and cost by day, scope, user, agent, provider and model.",
    async handle({ principal, query }) {
      const asked = usageQueryOf(query);
      return jsonAnswer({ sums: await usage.query({ ...asked, ...within(principal, reachOf, asked) }) });
    },
  };
}

/** What the caller may not choose. A foreign scope or user is as one that has spent nothing. */
function within(principal: TelemetryPrincipal, reachOf: ReachOf, { scope, user }: UsageQuery): Pick<UsageQuery, "scope" | "user"> {
  const { scope: ownScope, user: ownUser } = principal;
  const reach = reachOf(principal);
  if (reach === "all") return {};
  const isForeign = (scope !== undefined && scope !== ownScope) || (reach === "user" && user !== undefined && user !== ownUser);
  // No scope has this name.
  if (isForeign) return { scope: "" };
  return reach === "scope" ? { scope: ownScope } : { scope: ownScope, user: ownUser };
}

const dayPattern = /^\d{4}-\d{2}-\d{2}$/;

/** The query of a text; `by` has commas between its dimensions. @throws AgentError INPUT_INVALID */
export function usageQueryOf(query: URLSearchParams): UsageQuery {
  const by = (query.get("by") ?? "").split(",").filter((name) => name !== "");
  const wrong = by.find((name) => !usageDimensions.some((known) => known === name));
  if (wrong !== undefined)
    throw new AgentError("INPUT_INVALID", {
      message: `Usage cannot be broken down by \`${wrong.slice(0, 40)}\`.`,
      fix: `Use ${usageDimensions.join(", ")}.`,
    });
  const days = ["from", "to"].flatMap((name) => {
    const day = query.get(name);
    if (day === null) return [];
    if (!dayPattern.test(day) || Number.isNaN(Date.parse(day)))
      throw new AgentError("INPUT_INVALID", { message: `\`${name}\` is no day.`, fix: "Use one like `2026-11-24`." });
    return [[name, day]];
  });
  const named = ["scope", "user"].flatMap((name) => (query.get(name) === null ? [] : [[name, query.get(name)]]));
  return { by: by as readonly UsageDimension[], ...Object.fromEntries([...days, ...named]) };
}
