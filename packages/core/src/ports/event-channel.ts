import type { SessionEvent } from "../loop/event.ts";
import type { SessionRef } from "./session-log.ts";

/**
 * Carries events from the owner of a session to whoever watches it, on this node or another. At most once: a watcher
 * that misses some reads durable ones from the log and asks for a snapshot of the rest.
 */
export interface EventChannel {
  publish(ref: SessionRef, events: readonly SessionEvent[]): void;
  /** Events published from now on, in order per publisher. A slow listener never blocks the publisher. */
  subscribe(ref: SessionRef, listener: (events: readonly SessionEvent[]) => void): () => void;
}
