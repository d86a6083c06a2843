import type { AgentSession } from "@loopwright/core";
import { cursorAfter, type EventCursor } from "@loopwright/core/protocol";
import type { Subscription } from "./feed-reader.ts";

/** Where a reader with this cursor joins here: it may know more than this process, which then has to catch up with it first. */
export function positionOf(cursor: EventCursor, { lastSeq }: AgentSession): Pick<Subscription, "after" | "seen"> {
  return cursor.seq <= lastSeq ? { after: cursor } : { after: cursorAfter(lastSeq), seen: cursor };
}
