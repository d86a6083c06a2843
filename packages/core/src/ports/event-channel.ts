import type { EphemeralEvent, SessionEvent } from "../loop/event.ts";
import type { Json } from "../message/json.ts";
import type { SessionRef } from "../message/session-ref.ts";

/** A message from the product to its users (progress of a job, "refresh this", a system message). The runtime delivers it and does not read it. */
export interface Notification {
  /** `[a-z][a-z0-9_]{0,63}`, for example `job_progress`. */
  readonly type: string;
  /** The user that receives it. Default: all users of the scope. */
  readonly to?: string;
  readonly data?: Json;
}

/** A subscriber of all sessions of a scope. */
export interface ScopeListener {
  events?(session: string, events: readonly SessionEvent[]): void;
  notification?(notification: Notification): void;
  /** As `ChannelListening.gap`, for any session of the scope. */
  gap?(): void;
}

export interface ChannelListening {
  /**
   * Events may have been lost: read the log, and `recall` the open lanes. A channel between nodes calls it when its subscription becomes
   * active, which may be later than `subscribe` returned, and after each reconnection; events that are published after such a call are
   * delivered. While the channel is disconnected it is called about every second. A channel that loses no events never calls it.
   */
  gap?(): void;
}

/**
 * Delivers the events of a session from its owner to its subscribers, on this node and on others. Delivery is at most once: a subscriber that lost events
 * reads the durable ones from the log and asks for a snapshot of the others. No event is lost in silence: if some of a burst are dropped, `gap` is called.
 * Similar ids, and ids with separators or patterns in them, never share events, and any text arrives unchanged. A listener that throws affects neither the
 * publisher nor other listeners, and is called again.
 */
export interface EventChannel {
  /** `process`: events reach subscribers of this process only. Absent: they reach every process that has such a channel. */
  readonly reach?: "process";
  /** Returns before any listener is called. Never throws. */
  publish(ref: SessionRef, events: readonly SessionEvent[]): void;
  /**
   * Delivers the events that are published from now on, in order per publisher, including those of this node. A slow listener never blocks the
   * publisher. Between nodes delivery begins with the first `gap`. Returns a function that ends the subscription at once, so that events published
   * before are no longer delivered; it is idempotent. A subscriber that leaves and returns in the same turn of the event loop gets everything that is
   * published after its next `gap`.
   */
  subscribe(ref: SessionRef, listener: (events: readonly SessionEvent[]) => void, listening?: ChannelListening): () => void;
  /** Delivers a notification to all subscribers of the scope. */
  notify(scope: string, notification: Notification): void;
  /**
   * The recent events of a lane in the order of `n`, for a subscriber that joins on another node. They are kept in a bounded ring that expires
   * some minutes after the last event, so the first ones may be missing: the result is at most 2 MiB of the newest events without a hole. Without this
   * method, or when the result is empty, the draft in the store is used. A subscriber that has received an event of the lane can recall it and those
   * before it. Resolves within 2 s, with an empty list while the channel is disconnected. Never rejects.
   */
  recall?(ref: SessionRef, lane: number): Promise<readonly EphemeralEvent[]>;
  /** Delivers the events of all sessions of a scope and its notifications from now on; events are in order per session. */
  subscribeScope(scope: string, listener: ScopeListener): () => void;
}
