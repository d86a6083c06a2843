/*
 * Owns: which pages one run has fetched, its own session and those of its children: the log of each records the result of a fetch.
 * Does not own: when a page is fetched (web-fetch).
 */
import { type DurableEvent, type Json, type ResultPart, readHistory, readOpening } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import type { PageFormat } from "./page/read-page.ts";

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

/** The result of an earlier call for the same. */
export interface EarlierPage {
  readonly output: readonly ResultPart[];
  readonly details?: Json;
}

/** The pages that a run has fetched, so that none is fetched again. */
export interface FetchedPages {
  find(place: FetchPlace, page: AskedPage): Promise<EarlierPage | undefined>;
}

/** Which sessions are read, and how many. */
const most = { above: 16, sessions: 200 } as const;

/** Which tool fetches. */
export interface FetchedInLogOptions {
  /** Default `web_fetch`. */
  readonly tool?: string;
}

/**
 * The pages of a run from its log and those of the sessions above, beside and below it: the same in every process that has the store, and after a
 * crash. A later run of the session at the top fetches anew. Reads these logs at each look.
 */
export function fetchedInLog(store: SessionStore, { tool = "web_fetch" }: FetchedInLogOptions = {}): FetchedPages {
  return {
    async find(place, page) {
      const { scope } = place;
      const top = await topOf(store, place);
      const wanted = keyOf(page);
      let left: number = most.sessions;
      const open: TreeSession[] = [top];
      for (let next = open.shift(); next && left > 0; next = open.shift(), left--) {
        const { session, runId } = next;
        const found = await pageIn(readHistory(store, { scope, session }), { tool, wanted, runId });
        if (found) return found;
        for (const { id } of await store.index.list(scope, { parent: session, limit: left })) {
          const { parent } = (await readOpening(store, { scope, session: id })) ?? {};
          if (runId === undefined || parent?.runId === runId) open.push({ session: id });
        }
      }
      return undefined;
    },
  };
}

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
  readonly tool: string;
  readonly wanted: string;
  readonly runId: string | undefined;
}

async function pageIn(history: AsyncIterable<readonly DurableEvent[]>, { tool, wanted, runId }: Wanted): Promise<EarlierPage | undefined> {
  const asking = new Set<string>();
  for await (const batch of history)
    for (const event of batch) {
      if (event.type === "tool_execution_start" && event.toolName === tool) {
        const isOfRun = runId === undefined || event.callKey.startsWith(`${runId}.`);
        if (isOfRun && keyOf(event.args) === wanted) asking.add(event.callKey);
      } else if (event.type === "tool_execution_end" && event.outcome === "ok" && asking.has(event.callKey)) {
        const { output, details } = event;
        return { output, ...(details === undefined ? {} : { details }) };
      }
    }
  return undefined;
}

/** The same for calls that ask for the same part of the same page. */
function keyOf({ url, format = "markdown", offset = 0 }: { readonly [Name in keyof AskedPage]?: unknown }): string {
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed) parsed.hash = "";
  return JSON.stringify([parsed?.href ?? String(url), format, offset]);
}
