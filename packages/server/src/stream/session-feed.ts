import type { EventCursor } from "@loopwright/core/protocol";
import type { EventSink } from "./event-sink.ts";

/** How one reader wants the events of a session. */
export interface Subscription {
  readonly sink: EventSink;
  /** Durable events after it come first. Default: all of them. */
  readonly after?: EventCursor;
}

/** The events of one session, encoded once for all who watch it. */
export interface SessionFeed {
  readonly watchers: number;
  subscribe(subscription: Subscription): () => void;
}
