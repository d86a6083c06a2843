import type { DurableEvent } from "../../loop/event.ts";
import type { Fact, FactOf } from "../../loop/fact.ts";
import { makeLean } from "../../loop/lean-state.ts";
import { emptyState, type State } from "../../loop/state.ts";
import { weigh } from "../../message/json-bytes.ts";
import type { SessionRef } from "../../ports/session-log.ts";
import type { SessionStore } from "../../ports/session-store.ts";
import { compareCursors, type EventCursor } from "../../protocol/cursor.ts";
import { storeError } from "../setup/session-errors.ts";
import { snapshotLimits } from "../setup/snapshot-limits.ts";
import { catchUp } from "./catch-up.ts";
import { keptState } from "./fold-head.ts";
import { type UnderstoodFacts, understandFacts } from "./understand-facts.ts";

/**
 * What is read at once: about so many bytes, at most so many facts. How many facts that are is learnt from those before; the first read knows
 * nothing of them. A reader of a long log may wait for long with one page in its hands.
 */
export const historyLimits: { readonly pageBytes: number; readonly pageFacts: number; readonly firstFacts: number } = {
  pageBytes: 256 * 1024,
  pageFacts: 512,
  firstFacts: 32,
};
/** Among how many facts the opening of a session is looked for at once. */
const openingWithin = 2;

/** Whose log it is. */
export interface HistoryPlace {
  readonly store: SessionStore;
  readonly ref: SessionRef;
}

export interface HistoryOptions {
  /** Only what comes after it. Default: from the start. */
  readonly after?: EventCursor;
}

/**
 * What watchers were told of the facts so far, in batches of the log's order; ends at the tail, or before the first fact of a
 * newer version: the session's snapshot says `readOnly` then. Every call folds the log, from
 * its start or a snapshot before the cursor; it holds one batch, of about 256 KiB where no fact has more, and no message of those before.
 * @throws AgentError SESSION_CORRUPT, STORE_*, BLOB_NOT_FOUND
 */
export async function* readHistory(
  store: SessionStore,
  ref: SessionRef,
  { after = { seq: 0, k: 0 } }: HistoryOptions = {},
): AsyncGenerator<readonly DurableEvent[], void> {
  // Of the fact at the cursor some events may be still to come.
  const base: State = (after.seq > snapshotLimits.facts && (await keptState({ store, ref }, after.seq - 1))) || emptyState;
  makeLean(base, emptyState);
  yield* historyFrom(base, { store, ref }, after);
}

/** The same from a state. The messages that its lists get are taken out of them again: they are the lists of this fold alone from there on. */
export async function* historyFrom(
  base: State,
  { store, ref }: HistoryPlace,
  after: EventCursor,
): AsyncGenerator<readonly DurableEvent[], void> {
  let state = base;
  for await (const facts of readPages({ store, ref }, base.seq + 1)) {
    const caughtUp = catchUp(state, facts, ref.session);
    makeLean(caughtUp.state, state);
    state = caughtUp.state;
    const events = caughtUp.events.filter((event) => compareCursors(event, after) > 0);
    if (events.length > 0) yield events;
  }
}

/** The facts from a place on, in the pages of `readHistory`. @throws as `readHistory` */
export async function* readPages({ store, ref }: HistoryPlace, from: number): AsyncGenerator<readonly Fact[], void> {
  for (let limit = historyLimits.firstFacts, next = from; ; ) {
    const { facts, tooNew } = await readFacts(store, ref, { from: next, limit });
    if (facts.length === 0) return;
    next += facts.length;
    const isLast = tooNew !== undefined || facts.length < limit;
    limit = nextLimit(facts, limit);
    yield facts;
    if (isLast) return;
  }
}

/** How many facts like these make a page; at most twice as many as before, for the next ones may be those with the long answers. */
function nextLimit(facts: readonly Fact[], limit: number): number {
  const factBytes = facts.reduce((sum, fact) => sum + weigh(fact), 0) / facts.length;
  return Math.max(1, Math.min(historyLimits.pageFacts, 2 * limit, Math.floor(historyLimits.pageBytes / factBytes)));
}

async function readFacts(
  store: SessionStore,
  ref: SessionRef,
  range: { readonly from: number; readonly limit: number },
): Promise<UnderstoodFacts> {
  try {
    const from = { blobs: store.blobs, scope: ref.scope, sessionId: ref.session, after: range.from - 1 };
    return await understandFacts(await store.log.read(ref, range), from);
  } catch (error) {
    throw storeError(error);
  }
}

/**
 * How a session was opened: which agent it has, and what came with it. `undefined` where it was not.
 * @throws AgentError SESSION_CORRUPT, STORE_*, BLOB_NOT_FOUND
 */
export async function readOpening(store: SessionStore, ref: SessionRef): Promise<FactOf<"session.opened"> | undefined> {
  for (let from = 1; ; from += openingWithin) {
    const { facts } = await readFacts(store, ref, { from, limit: openingWithin });
    const opened = facts.find((fact) => fact.type === "session.opened");
    // Only the claims of its first owners come before it.
    if (opened || facts.length < openingWithin) return opened;
  }
}
