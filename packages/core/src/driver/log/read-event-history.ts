import type { DurableEvent } from "../../loop/event.ts";
import type { Fact, FactOf } from "../../loop/fact.ts";
import { dropMessages } from "../../loop/fold-without-messages.ts";
import { emptyState, type State } from "../../loop/state.ts";
import type { SessionStorage } from "../../memory/store/private-store.ts";
import { weigh } from "../../message/json-bytes.ts";
import type { SessionRef } from "../../ports/session-log.ts";
import type { SessionStore } from "../../ports/session-store.ts";
import { compareCursors, type EventCursor } from "../../protocol/cursor.ts";
import { snapshotLimits } from "../setup/fold-snapshot-limits.ts";
import { storeError } from "../setup/session-errors.ts";
import { type DecodedFacts, decodeFacts } from "./decode-facts.ts";
import { foldReadFacts } from "./fold-read-facts.ts";
import { keptState } from "./fold-snapshot-head.ts";

/**
 * The size of a page: about `pageBytes`, at most `pageFacts`. The number of its facts is estimated from the size of the facts on the page before;
 * the first page has `firstFacts`. Pages are small because a slow reader keeps a page in memory for a long time.
 */
export const historyLimits = {
  pageBytes: 262_144,
  pageFacts: 512,
  firstFacts: 32,
} as const;
/** How many facts one read in search of `session.opened` returns. */
const openingWithin = 2;

/** The session whose log is read, and its store. */
export interface HistorySource {
  readonly store: SessionStorage;
  readonly ref: SessionRef;
}

export interface HistoryOptions {
  /** Only the events after this cursor. Default: all events. */
  readonly after?: EventCursor;
}

/**
 * The durable events of all facts so far, as watchers received them, in batches in log order. Ends at the tail, or before the first fact of a
 * newer version (the session's snapshot has `readOnly` then). Each call folds the log, from its start or from a snapshot before the cursor.
 * It keeps one batch in memory, of about 256 KiB unless a single fact has more, and no messages of earlier batches.
 * @throws AgentError SESSION_CORRUPT, STORE_*, BLOB_NOT_FOUND
 */
export async function* readHistory(
  store: SessionStore,
  ref: SessionRef,
  { after = { seq: 0, k: 0 } }: HistoryOptions = {},
): AsyncGenerator<readonly DurableEvent[], void> {
  // The snapshot ends before the fact at the cursor, because some events of that fact may come after the cursor.
  const base: State = (after.seq > snapshotLimits.facts && (await keptState({ store, ref }, after.seq - 1))) || emptyState;
  dropMessages(base, emptyState);
  yield* historyFrom(base, { store, ref }, after);
}

/**
 * `readHistory` from a state on. Removes the messages that the fold appends to the lists of `base`, so no other state may share these lists beyond
 * their present end.
 */
export async function* historyFrom(
  base: State,
  { store, ref }: HistorySource,
  after: EventCursor,
): AsyncGenerator<readonly DurableEvent[], void> {
  let state = base;
  for await (const facts of readPages({ store, ref }, base.seq + 1)) {
    const caughtUp = foldReadFacts(state, facts, ref.session);
    dropMessages(caughtUp.state, state);
    state = caughtUp.state;
    const events = caughtUp.events.filter((event) => compareCursors(event, after) > 0);
    if (events.length > 0) yield events;
  }
}

/** The facts from a seq on, in the pages of `readHistory`. @throws as `readHistory` */
export async function* readPages({ store, ref }: HistorySource, from: number): AsyncGenerator<readonly Fact[], void> {
  for (let limit: number = historyLimits.firstFacts, next = from; ; ) {
    const { facts, tooNew } = await readFacts(store, ref, { from: next, limit });
    if (facts.length === 0) return;
    next += facts.length;
    const isLast = tooNew !== undefined || facts.length < limit;
    limit = nextLimit(facts, limit);
    yield facts;
    if (isLast) return;
  }
}

/** How many facts of this average size make a page; at most twice the last limit, because the next facts may be larger. */
function nextLimit(facts: readonly Fact[], limit: number): number {
  const factBytes = facts.reduce((sum, fact) => sum + weigh(fact), 0) / facts.length;
  return Math.max(1, Math.min(historyLimits.pageFacts, 2 * limit, Math.floor(historyLimits.pageBytes / factBytes)));
}

async function readFacts(
  store: SessionStorage,
  ref: SessionRef,
  range: { readonly from: number; readonly limit: number },
): Promise<DecodedFacts> {
  try {
    const from = { blobs: store.blobs, scope: ref.scope, sessionId: ref.session, after: range.from - 1 };
    return await decodeFacts(await store.log.read(ref, range), from);
  } catch (error) {
    throw storeError(error);
  }
}

/**
 * The fact that opened a session: it has the agent's name and what the session was created with. `undefined` if the log has no such fact.
 * @throws AgentError SESSION_CORRUPT, STORE_*, BLOB_NOT_FOUND
 */
export async function readOpening(store: SessionStore, ref: SessionRef): Promise<FactOf<"session.opened"> | undefined> {
  for (let from = 1; ; from += openingWithin) {
    const { facts } = await readFacts(store, ref, { from, limit: openingWithin });
    const opened = facts.find((fact) => fact.type === "session.opened");
    // Only `owner.claimed` facts come before it, so this takes few reads.
    if (opened || facts.length < openingWithin) return opened;
  }
}
