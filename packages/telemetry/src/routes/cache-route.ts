import { type CacheFinding, cacheStream } from "../cache/cache-finding.ts";
import type { EventStore } from "../events/event-store.ts";
import { jsonAnswer, type TelemetryRoute } from "./telemetry-route.ts";

const findingsMax = 1_000;

/** `GET /api/sessions/:id/cache`: what each model call of a session read from the vendor's cache, for callers that may read the session. */
export function cacheRoute({ events }: { readonly events: EventStore }): TelemetryRoute {
  return {
    method: "GET",
    path: "/api/sessions/:id/cache",
    id: "session-cache",
    summary: "What each model call of a session read from the vendor's cache, and what broke it.",
    async handle({ principal, params, url, fetch }) {
      const id = params["id"] ?? "";
      const session = await fetch(new Request(`${url}/api/sessions/${encodeURIComponent(id)}`));
      if (!session.ok) return session;
      await session.body?.cancel();
      return jsonAnswer({ findings: await findingsOf(events, { scope: principal.scope, session: id }) });
    },
  };
}

/** The findings of a session, the oldest first; the last 1,000. */
export async function findingsOf(
  events: EventStore,
  { scope, session }: { readonly scope: string; readonly session: string },
): Promise<readonly CacheFinding[]> {
  const found = await events.read(cacheStream, { scope });
  return found
    .map(({ data }) => data as CacheFinding)
    .filter((finding) => finding.session === session)
    .slice(-findingsMax);
}
