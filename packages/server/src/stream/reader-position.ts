import type { AgentSession } from "@loopwright/core";
import { cursorAfter, type EventCursor } from "@loopwright/core/protocol";
import type { Subscription } from "./feed-reader.ts";

/** The position at which a reader with this cursor joins. If the reader has newer events than this process, this process catches up first. */
export function positionOf(cursor: EventCursor, { lastSeq }: AgentSession): Pick<Subscription, "after" | "seen"> {
  return cursor.seq <= lastSeq ? { after: cursor } : { after: cursorAfter(lastSeq), seen: cursor };
}
