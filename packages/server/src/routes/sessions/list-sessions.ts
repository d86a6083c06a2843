import { isId, type ListQuery, type SessionHit, type SessionIndex, type SessionSummary } from "@loopwright/core/ports";
import { z } from "zod";
import { maySee } from "../../permissions/may-see-session.ts";
import { jsonResponse } from "../../request/paced-response.ts";
import type { Route } from "../../request/route.ts";
import { sessionHit, sessionSummary } from "../../schemas/index.ts";
import type { ServerContext } from "../../server-context.ts";
import type { Principal } from "../../server-options.ts";
import { pageCursor, placeOf } from "./page-cursor.ts";

interface ListRequest {
  readonly limit: number;
  readonly before?: string | undefined;
  readonly search?: string | undefined;
  readonly parent?: string | undefined;
  readonly agent?: string | undefined;
  readonly status?: SessionSummary["status"] | undefined;
  readonly participant?: string | undefined;
}

/** The most sessions that a request with a filter looks at (it ends after the read that reaches the number), and the sessions per read. */
const [lookedAtMax, readSize] = [1_000, 200];
/** The hits that the first and the second search ask for, if a policy may hide some. */
const searchSizes = [250, 1_000] as const;

const query: z.ZodType<ListRequest> = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  before: z.string().max(100).optional(),
  search: z.string().max(500).optional(),
  parent: z.string().max(100).optional(),
  agent: z.string().max(64).optional(),
  status: z.enum(["idle", "running", "waiting", "closed"]).optional(),
  participant: z.string().max(200).optional(),
});

const page = z.object({ sessions: z.array(sessionSummary), next: z.string().optional() });
const found = z.object({ hits: z.array(sessionHit), more: z.literal(true).optional() });

export const listSessionsRoute: Route<unknown, ListRequest> = {
  method: "GET",
  path: "/api/sessions",
  id: "listSessions",
  summary:
    "Lists the sessions of the caller's scope, the newest change first: those without a parent, or the children of `parent`. `agent`, `status` and `participant` filter the list; `search` finds the sessions that hold all of its words instead.",
  access: "principal",
  action: "session.list",
  query,
  responses: {
    200: {
      description:
        "A page, and where the next one begins; with `search` the best `limit` that were found, and `more` where there may be others. A filtered page may have fewer than `limit` and a `next`.",
      schema: z.union([page, found]),
    },
    400: { description: "The page cursor cannot be read." },
  },
  async handle({ principal, request, late, server, query: { limit, before, search, parent, ...filter } }) {
    const { scope } = principal;
    const { index } = server.options.store;
    // The work ends when the caller has gone, and when the request was answered as too late.
    const signal = AbortSignal.any([request.signal, late]);
    if (search !== undefined && search.trim() !== "")
      return jsonResponse(await seenHits(principal, { words: search, limit, signal }, server), server.clock);
    if (parent !== undefined && !(await isSeenParent(parent, principal, server))) return jsonResponse({ sessions: [] }, server.clock);
    const family = parent === undefined ? {} : { parent };
    const from = before === undefined ? undefined : placeOf(before);
    const list = (options: ListQuery): ReturnType<SessionIndex["list"]> => index.list(scope, { signal, ...family, ...options });
    // Children are seen with their parent, which was checked above.
    const isSeen: IsWanted | undefined =
      server.options.maySee && parent === undefined ? (summary) => maySee(principal, summary, server) : undefined;
    const { sessions, last } = await filtered(list, { limit, before: from, isWanted: both(fits(filter), isSeen) });
    return jsonResponse({ sessions, ...(last ? { next: pageCursor(last) } : {}) }, server.clock);
  },
};

interface SearchQuery {
  readonly words: string;
  readonly limit: number;
  readonly signal: AbortSignal;
}

interface Found {
  readonly hits: readonly SessionHit[];
  /** True if there may be more hits. */
  readonly more?: true;
}

/** The best hits that the principal may see. A search has no second page, so if the principal may see too few of the hits, it is repeated once for more. */
async function seenHits(principal: Principal, { words, limit, signal }: SearchQuery, server: ServerContext): Promise<Found> {
  const { index } = server.options.store;
  const verdicts = new Map<string, boolean>();
  let hits: readonly SessionHit[] = [];
  let isPart = false;
  const onUnsearched = (): void => {
    isPart = true;
  };
  for (const size of server.options.maySee ? searchSizes : [limit + 1]) {
    const found = await index.search(principal.scope, words, { limit: size, signal, onUnsearched });
    const asked = found.filter(({ session }) => !verdicts.has(session.id));
    const seen = await Promise.all(asked.map(({ session }) => maySee(principal, session, server)));
    for (const [at, { session }] of asked.entries()) verdicts.set(session.id, seen[at] === true);
    hits = found.filter(({ session }) => verdicts.get(session.id));
    if (hits.length > limit) return { hits: hits.slice(0, limit), more: true };
    if (found.length < size) return { hits, ...(isPart ? { more: true } : {}) };
  }
  return { hits, more: true };
}

async function isSeenParent(parent: string, principal: Principal, server: ServerContext): Promise<boolean> {
  if (!isId(parent) || !server.options.maySee) return isId(parent);
  const summary = await server.options.store.index.get(principal.scope, parent);
  return summary !== undefined && maySee(principal, summary, server);
}

type Place = NonNullable<ListQuery["before"]>;
type IsWanted = (summary: SessionSummary) => boolean | Promise<boolean>;

interface FilteredQuery {
  readonly limit: number;
  readonly before: Place | undefined;
  /** Absent: all are wanted. */
  readonly isWanted: IsWanted | undefined;
}

/** As many wanted sessions as fit the page. The number that is looked at is bounded. `last`: the last session that was looked at, if more may follow. */
async function filtered(
  list: (options: ListQuery) => Promise<readonly SessionSummary[]>,
  { limit, before, isWanted }: FilteredQuery,
): Promise<{ readonly sessions: readonly SessionSummary[]; readonly last: SessionSummary | undefined }> {
  const size = isWanted ? readSize : limit;
  const sessions: SessionSummary[] = [];
  let place = before;
  for (let lookedAt = 0; ; ) {
    const page = await list({ limit: size, ...(place ? { before: place } : {}) });
    const wanted = isWanted && (await Promise.all(page.map(isWanted)));
    for (const [at, summary] of page.entries()) {
      if (!wanted || wanted[at]) sessions.push(summary);
      if (sessions.length === limit) return { sessions, last: summary };
    }
    lookedAt += page.length;
    const last = page.at(-1);
    if (!last || page.length < size) return { sessions, last: undefined };
    if (lookedAt >= lookedAtMax) return { sessions, last };
    place = last;
  }
}

function fits({ agent, status, participant }: Pick<ListRequest, "agent" | "status" | "participant">): IsWanted | undefined {
  if (agent === undefined && status === undefined && participant === undefined) return undefined;
  return (summary) =>
    (agent === undefined || summary.agent === agent) &&
    (status === undefined || summary.status === status) &&
    (participant === undefined || (summary.participants?.includes(participant) ?? false));
}

function both(one: IsWanted | undefined, other: IsWanted | undefined): IsWanted | undefined {
  if (!one || !other) return one ?? other;
  return async (summary) => (await one(summary)) && (await other(summary));
}
