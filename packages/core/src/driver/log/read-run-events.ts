import { forked } from "../../loop/append-list.ts";
import type { DurableEvent } from "../../loop/event.ts";
import { eventsOf } from "../../loop/events-of.ts";
import { beforeFact, bringerOf, concernsRun, foldRun, hasBegun, stateBeforeRun, withoutSchedule } from "../../loop/fold-one-run.ts";
import type { State } from "../../loop/state.ts";
import { compareCursors, cursorAfter, type EventCursor } from "../../protocol/cursor.ts";
import { durableEvents } from "./fold-read-facts.ts";
import { type HistorySource, historyFrom, readPages } from "./read-event-history.ts";

interface RunSource extends HistorySource {
  readonly runId: string;
  readonly after: EventCursor;
}

/**
 * The events of one run after the cursor, in batches. `state`: a fold of the log, or of its beginning. Reads the log from the input of the run to the
 * end of the run, with the facts of other runs in between. If the run had not begun in that state, reads the input and the facts after the state.
 * @throws as `readHistory`
 */
export async function* readRun(state: State, source: RunSource): AsyncGenerator<readonly DurableEvent[], void> {
  const { runId, after } = source;
  const bringer = bringerOf(state, runId);
  if (bringer !== undefined) yield* ownEvents(state, source, { bringer, isWhole: hasBegun(state, runId) });
  if (hasBegun(state, runId)) return;
  const tail = cursorAfter(state.seq);
  for await (const batch of historyFrom(withOwnLists(state), source, compareCursors(after, tail) > 0 ? after : tail)) {
    const events = batch.filter((event) => event.runId === runId);
    if (events.length > 0) yield events;
    if (events.some(({ type }) => type === "run_end")) return;
  }
}

/** A copy of the state for a fold that changes its lists in place. */
const withOwnLists = (state: State): State => ({
  ...state,
  history: forked(state.history),
  known: forked(state.known),
  ended: forked(state.ended),
  ...(state.decisions ? { decisions: forked(state.decisions) } : {}),
});

async function* ownEvents(
  later: State,
  source: RunSource,
  { bringer, isWhole }: { readonly bringer: number; readonly isWhole: boolean },
): AsyncGenerator<readonly DurableEvent[], void> {
  const { ref, runId, after } = source;
  let state = stateBeforeRun(later, runId, bringer);
  for await (const facts of readPages(source, bringer)) {
    const events: DurableEvent[] = [];
    // More inputs may have joined the run before it begins.
    const own = isWhole ? facts : facts.filter(({ seq }) => seq <= later.seq);
    for (const fact of own.filter((one) => concernsRun(one, runId, later)).map(withoutSchedule)) {
      events.push(...durableEvents(fact, eventsOf(beforeFact(state, fact), fact), ref.session));
      state = foldRun(state, fact, runId);
    }
    const news = events.filter((event) => event.runId === runId && compareCursors(event, after) > 0);
    if (news.length > 0) yield news;
    if (own.length < facts.length || state.lastRun?.runId === runId) return;
  }
}
