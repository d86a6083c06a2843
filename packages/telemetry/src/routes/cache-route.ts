import { AgentError } from "@loopwright/core";
import { type CacheFinding, cacheStream } from "../cache/cache-finding.ts";
import { type EventStore, placeOf } from "../events/event-store.ts";
import { jsonAnswer, type TelemetryRoute } from "./telemetry-route.ts";

/** Findings of a session, the oldest first. */
export interface FindingsPage {
  readonly findings: readonly CacheFinding[];
  /** Where the page before begins; absent: there is none. */
  readonly before?: string;
}

export interface FindingsQuery {
  readonly scope: string;
  readonly session: string;
  /** At most this many, the newest of them. Default 100, at most 500. */
  readonly limit?: number;
  /** The `before` of the last page. */
  readonly before?: string;
}

const pageSize = 100;
const pageMax = 500;

/** `GET /api/sessions/:id/cache?limit=100&before=<cursor>`: what each model call of a session read from the vendor's cache, for callers that may read the session. */
export function cacheRoute({ events }: { readonly events: EventStore }): TelemetryRoute {
  return {
    method: "GET",
    path: "/api/sessions/:id/cache",
    id: "session-cache",
    summary: "What each model call of a session read from the vendor's cache, and what broke it; a page, the newest first.",
    async handle({ principal, params, query, url, fetch }) {
      const id = params["id"] ?? "";
      const page = pageOf(query);
      const session = await fetch(new Request(`${url}/api/sessions/${encodeURIComponent(id)}`));
      if (!session.ok) return session;
      await session.body?.cancel();
      return jsonAnswer(await findingsOf(events, { scope: principal.scope, session: id, ...page }));
    },
  };
}

/** A page of the findings of a session. Reads one record more than it gives. @throws AgentError INPUT_INVALID for a `before` that is none */
export async function findingsOf(events: EventStore, query: FindingsQuery): Promise<FindingsPage> {
  const { scope, session, limit = pageSize, before } = query;
  const most = Math.min(limit, pageMax);
  const found = await events.read(cacheStream, { scope, session, limit: most + 1, ...(before === undefined ? {} : { before }) });
  const page = found.slice(-most);
  const [first] = page;
  return {
    findings: page.map(({ data }) => data as CacheFinding),
    ...(found.length > most && first ? { before: first.cursor } : {}),
  };
}

function pageOf(query: URLSearchParams): Pick<FindingsQuery, "limit" | "before"> {
  const [limit, before] = [query.get("limit"), query.get("before")];
  if (limit !== null && !(Number.isInteger(Number(limit)) && Number(limit) >= 1 && Number(limit) <= pageMax))
    throw new AgentError("INPUT_INVALID", { message: "`limit` is no page size.", fix: `Use a number from 1 to ${pageMax}.` });
  if (before !== null) placeOf(before);
  return { ...(limit === null ? {} : { limit: Number(limit) }), ...(before === null ? {} : { before }) };
}
