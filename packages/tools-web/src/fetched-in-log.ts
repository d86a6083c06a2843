/*
 * Owns: which pages one run has fetched or is fetching, its own session and those of its children: the log of each records the call of a fetch and its result.
 * Does not own: which calls of this process share a fetch (page-flights), how a page is fetched (web-fetch).
 */
import { type DurableEvent, type Json, type ResultPart, readHistory, readOpening } from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import type { Clock, SessionStore } from "@loopwright/core/ports";
import type { PageFormat } from "./page/read-page.ts";
import { pageFlights } from "./page-flights.ts";
import { pauseUntil } from "./pause-until.ts";

/** The call that asks for a page. */
export interface FetchPlace {
  readonly scope: string;
  readonly session: string;
  /** `<runId>.<turn>.<index>`. */
  readonly callKey: string;
}

/** A page, or a part of a long one. */
export interface AskedPage {
  readonly url: string;
  readonly format: PageFormat;
  readonly offset: number;
}

/** The result of a call for the same page. */
export interface EarlierPage {
  readonly output: readonly ResultPart[];
  readonly details?: Json;
}

/** A call, and the page that it wants. */
export interface PageRequest {
  readonly place: FetchPlace;
  readonly page: AskedPage;
  /** Of the call. */
  readonly signal: AbortSignal;
}

/** The pages that a run has fetched or is fetching, so that none is fetched twice. */
export interface FetchedPages {
  /** How long `read` may wait for a call on another node, in milliseconds. */
  readonly waitMs: number;
  /** The result of another call of the run for the same page, also of one that has not ended yet; else that of `fetch`. Rejects as `fetch` does. */
  read(request: PageRequest, fetch: () => Promise<EarlierPage>): Promise<EarlierPage>;
}

/** Which sessions are read, how many, and how often while a call on another node has not ended. */
const most = { above: 16, sessions: 200 } as const;
const pollMs = 500;

/** Which tool fetches, and how long calls wait for one another. */
export interface FetchedInLogOptions {
  /** Default `web_fetch`. */
  readonly tool?: string;
  /** How long a call waits for one that another node runs, before it fetches by itself, in milliseconds. Default 15,000. */
  readonly waitMs?: number;
  /** Default: the real time. */
  readonly clock?: Pick<Clock, "after">;
}

/**
 * The pages of a run from its log and those of the sessions above, beside and below it: the same in every process that has the store, and after a
 * crash. A later run of the session at the top fetches anew. Calls of one value that ask for a page at the same time share one fetch, and its failure;
 * a call waits for an earlier one that another node runs. Reads these logs for each page, so a process makes one value and shares it.
 */
export function fetchedInLog(store: SessionStore, options: FetchedInLogOptions = {}): FetchedPages {
  const { tool = "web_fetch", waitMs = 15_000, clock = systemClock } = options;
  const flights = pageFlights<EarlierPage>(clock);
  return {
    waitMs,
    async read(request, fetch) {
      const { place, page, signal } = request;
      const top = await topOf(store, place);
      const wanted = keyOf(page);
      const key = JSON.stringify([place.scope, top.session, top.runId, wanted]);
      return flights.join({ key, call: nameOf(place), signal }, async (calls) => {
        for (let waitedMs = 0; ; waitedMs += pollMs) {
          const { found, running } = await lookInLogs(store, { scope: place.scope, top, tool, wanted });
          if (found) return found;
          if (waitedMs >= waitMs || !(await isBehind(store, { place, running, calls }))) return fetch();
          await pauseUntil(pollMs, { clock, signal });
        }
      });
    },
  };
}

interface Look {
  readonly scope: string;
  readonly top: TreeSession;
  readonly tool: string;
  readonly wanted: string;
}

interface Seen {
  readonly found?: EarlierPage;
  /** Calls for the page that have not ended. */
  readonly running: readonly RunningCall[];
}

interface RunningCall {
  readonly session: string;
  readonly callKey: string;
  /** When its start was recorded, by the clock of its node. */
  readonly at: number;
}

async function lookInLogs(store: SessionStore, { scope, top, tool, wanted }: Look): Promise<Seen> {
  const running: RunningCall[] = [];
  let left: number = most.sessions;
  const open: TreeSession[] = [top];
  for (let next = open.shift(); next && left > 0; next = open.shift(), left--) {
    const { session, runId } = next;
    const seen = await pageIn(readHistory(store, { scope, session }), { session, tool, wanted, runId });
    if (seen.found) return seen;
    running.push(...seen.running);
    for (const { id } of await store.index.list(scope, { parent: session, limit: left })) {
      const { parent } = (await readOpening(store, { scope, session: id })) ?? {};
      if (runId === undefined || parent?.runId === runId) open.push({ session: id });
    }
  }
  return { running };
}

interface Waiting {
  readonly place: FetchPlace;
  readonly running: readonly RunningCall[];
  /** Names of the calls of this process that share the fetch. */
  readonly calls: ReadonlySet<string>;
}

/**
 * Whether another node runs a call for the page that began before each of `calls`. Each call is recorded before it looks, so of two the later one sees
 * the other. A call whose node has lost its lease is not running.
 */
async function isBehind(store: SessionStore, { place, running, calls }: Waiting): Promise<boolean> {
  const { scope } = place;
  const [first] = running.toSorted(byStart);
  if (!first || calls.has(nameOf({ scope, ...first }))) return false;
  const own = (await store.log.head({ scope, session: place.session })).lease?.node;
  for (const call of running.toSorted(byStart)) {
    if (calls.has(nameOf({ scope, ...call }))) return false;
    const node = (await store.log.head({ scope, session: call.session })).lease?.node;
    if (node !== undefined && node !== own) return true;
  }
  return false;
}

const byStart = (one: RunningCall, other: RunningCall): number =>
  one.at - other.at || (nameOf({ scope: "", ...one }) < nameOf({ scope: "", ...other }) ? -1 : 1);

const nameOf = ({ scope, session, callKey }: FetchPlace): string => JSON.stringify([scope, session, callKey]);

interface TreeSession {
  readonly session: string;
  /** The run that counts. Absent: all of them, because the session exists for the run. */
  readonly runId?: string;
}

/** The session at the top, and its run that this call works for. */
async function topOf(store: SessionStore, { scope, session, callKey }: FetchPlace): Promise<TreeSession> {
  let top: TreeSession = { session, runId: callKey.split(".").slice(0, -2).join(".") };
  for (let above = 0; above < most.above; above++) {
    const { parent } = (await readOpening(store, { scope, session: top.session })) ?? {};
    if (!parent) return top;
    top = { session: parent.session, runId: parent.runId };
  }
  return top;
}

interface Wanted {
  readonly session: string;
  readonly tool: string;
  readonly wanted: string;
  readonly runId: string | undefined;
}

async function pageIn(history: AsyncIterable<readonly DurableEvent[]>, { session, tool, wanted, runId }: Wanted): Promise<Seen> {
  const asking = new Map<string, RunningCall>();
  for await (const batch of history)
    for (const event of batch) {
      if (event.type === "tool_execution_start" && event.toolName === tool) {
        const { callKey, at } = event;
        const isOfRun = runId === undefined || callKey.startsWith(`${runId}.`);
        if (isOfRun && keyOf(event.args) === wanted) asking.set(callKey, { session, callKey, at });
      } else if (event.type === "tool_execution_end" && asking.delete(event.callKey) && event.outcome === "ok") {
        const { output, details } = event;
        return { found: { output, ...(details === undefined ? {} : { details }) }, running: [] };
      }
    }
  return { running: [...asking.values()] };
}

/** The same for calls that ask for the same part of the same page. */
function keyOf({ url, format = "markdown", offset = 0 }: { readonly [Name in keyof AskedPage]?: unknown }): string {
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed) parsed.hash = "";
  return JSON.stringify([parsed?.href ?? String(url), format, offset]);
}
