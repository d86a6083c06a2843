import type { EphemeralEvent, SessionEvent } from "../loop/event.ts";
import type { Json } from "../message/json.ts";
import type { SessionRef } from "./session-log.ts";

/** A word of the product to its users (progress of a job, "refresh this", a system message); the runtime only carries it. */
export interface Notification {
  /** `[a-z][a-z0-9_]{0,63}`, for example `job_progress`. */
  readonly type: string;
  /** The user it is for. Default: everybody in the scope. */
  readonly to?: string;
  readonly data?: Json;
}

/** Who hears everything of a scope. */
export interface ScopeListener {
  events?(session: string, events: readonly SessionEvent[]): void;
  notification?(notification: Notification): void;
  /** As `ChannelListening.gap`, of any session of the scope. */
  gap?(): void;
}

export interface ChannelListening {
  /**
   * Something may have been missed: read the log, and `recall` what is open. A channel between nodes calls it when it begins to hear, which
   * may be later than `subscribe` returned, and when it hears again; what is published after such a call is heard. It is called again and
   * again, about every second, while the channel is away. A channel that misses nothing never calls it.
   */
  gap?(): void;
}

/**
 * Carries events from the owner of a session to whoever watches it, on this node or another. At most once: a watcher
 * that misses some reads durable ones from the log and asks for a snapshot of the rest.
 */
export interface EventChannel {
  /** `process`: what is published here is heard in this process alone. Absent: by every process that has such a channel. */
  readonly reach?: "process";
  publish(ref: SessionRef, events: readonly SessionEvent[]): void;
  /**
   * Events published from now on, in order per publisher, those of this node among them. A slow listener never blocks the publisher.
   * Between nodes: from the first `gap` on.
   */
  subscribe(ref: SessionRef, listener: (events: readonly SessionEvent[]) => void, listening?: ChannelListening): () => void;
  /** Tells everybody who listens to the scope. */
  notify(scope: string, notification: Notification): void;
  /**
   * What was published in a lane, by `n`, as far as it is kept (a bounded ring, gone some minutes after the last event): for a watcher who
   * joins on another node. Its beginning may be gone, and it may have holes. Absent, or an empty answer: the draft in the store has to do.
   * Resolves within 2 s, empty where the channel is away. Never rejects.
   */
  recall?(ref: SessionRef, lane: number): Promise<readonly EphemeralEvent[]>;
  /** What the sessions of a scope publish and what is notified in it, from now on; events in order per session. */
  subscribeScope(scope: string, listener: ScopeListener): () => void;
}
