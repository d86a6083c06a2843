import { readHistory } from "@loopwright/core";
import { cursorAfter, encodeCursor } from "@loopwright/core/protocol";
import type { HostedSession } from "@loopwright/host";
import { openHeldSink } from "../../request/open-stream-under-slot.ts";
import { jsonResponse } from "../../request/paced-response.ts";
import { checkCursor, cursorOf, lastEventCursor } from "../../request/request-cursor.ts";
import type { RequestContext } from "../../request/route.ts";
import { positionOf } from "../../stream/reader-position.ts";
import { encodeFrames, plainFrame, plainText, retryFrame } from "../../stream/sse-frames.ts";
import { awaitSeq, type MinSeqQuery } from "../await-seq.ts";
import { checkState } from "../open-session.ts";
import { readPage } from "./event-page.ts";
import { withDerivedTitle } from "./with-derived-title.ts";

/** The query of an events request. */
export interface EventsQuery extends MinSeqQuery {
  readonly after?: string | undefined;
  readonly from?: "now" | undefined;
  /** The most events of an answer as JSON. */
  readonly limit?: number | undefined;
  /** `whole`: the text of each answer comes once and whole, in place of deltas and snapshots. */
  readonly text?: "whole" | undefined;
}

/**
 * Streams the events of a session (or answers with a page of them as JSON): from the start, from now (`session_snapshot` first), or after a cursor. With a
 * position in the query the stream stays open. Otherwise it ends when the session rests, and a reader that reconnects then gets 204.
 * @throws AgentError CURSOR_INVALID, HISTORY_LOST, HISTORY_EXPIRED, NODE_BEHIND, CONNECTION_LIMIT, STORE_*
 */
export async function followSession(context: RequestContext, hosted: HostedSession, query: EventsQuery): Promise<Response> {
  const { request, principal, server } = context;
  const { session, ref } = hosted;
  const feed = server.feeds.of(hosted);
  const { store } = server.options;
  const header = lastEventCursor(request);
  const named = header ?? (query.after === undefined || query.after === "" ? undefined : cursorOf(query.after));
  await session.ready();
  await awaitSeq(session, query.minSeq, server);
  if (named) await checkCursor(named, hosted, server);
  if (wantsJson(request)) {
    const page = await readPage(readHistory(store, ref, named ? { after: named } : {}), { ...server, limit: query.limit });
    const cursor = encodeCursor(page.events.at(-1) ?? named ?? cursorAfter(session.lastSeq));
    hosted.release();
    return jsonResponse({ ...page, cursor }, server.clock);
  }
  const waits = query.after !== undefined || query.from !== undefined;
  if (header && !waits && session.isResting && !(await feed.hasAfter(header))) {
    hosted.release();
    return new Response(null, { status: 204 });
  }
  checkState(session);
  const seat = server.streams.take(principal);
  const { sink, response } = openHeldSink(context, seat);
  sink.onClose(hosted.release);
  sink.write(encodeFrames(retryFrame));
  // The snapshot is taken and sent without an await, so that no event comes between it and its cursor.
  const isFresh = query.from === "now" && !header;
  if (isFresh) void sink.pour(plainText({ type: "session_snapshot", snapshot: withDerivedTitle(session.snapshot()) }));
  const place = isFresh ? cursorAfter(session.lastSeq) : named;
  feed.subscribe({
    sink,
    ...(place ? positionOf(place, session) : {}),
    hasWholeText: query.text === "whole",
    removed: () => sink.write(encodeFrames(plainFrame({ type: "session_closed", sessionId: session.id }))),
    rested() {
      sink.write(encodeFrames(plainFrame({ type: "rest", sessionId: session.id })));
      if (!waits) sink.end();
    },
  });
  return response;
}

function wantsJson(request: Request): boolean {
  const accepted = request.headers.get("Accept") ?? "";
  return accepted.includes("application/json") && !accepted.includes("text/event-stream");
}
