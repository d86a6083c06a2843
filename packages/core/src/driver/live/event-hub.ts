import type { DurableEvent, EphemeralBody, EphemeralEvent, SessionEvent } from "../../loop/event.ts";
import { createStreamedAnswers, type StreamedLane } from "./streamed-answers.ts";

/** Takes events of a session as they come; `runId` is the run they belong to. It must neither throw nor keep the array. */
export type HubListener = (events: readonly SessionEvent[], runId: string | undefined) => void;

/** The stream of one model call or tool; its closing fact closes it. */
export interface Lane {
  /** Seq of the intent fact. */
  readonly id: number;
  readonly runId: string;
  /** True if there is a listener or a channel. Otherwise deltas need not be made into events. */
  readonly isReceived: boolean;
  /** Numbers the events and publishes them to every listener. */
  emit(bodies: readonly EphemeralBody[]): void;
  /** Counts a delta that was not published: a reader that joins gets it in the snapshot. */
  passOver(): void;
  close(): void;
}

/** Publishes a lane of another handle to the listeners of this process. */
export interface LaneRelay {
  /** The events are numbered already. */
  publish(events: readonly EphemeralEvent[]): void;
  close(): void;
}

export interface LaneOptions {
  readonly id: number;
  readonly runId: string;
  /** True for the lane of an answer, false for that of a tool. */
  readonly isAnswer: boolean;
  /** The event that replaces all deltas so far. */
  readonly snapshot: () => EphemeralBody | undefined;
}

/**
 * Passes the events of a session on to the listeners of this process: each gets every event once, in order. If the lane of an answer has not published
 * all of its text, the rest comes right before its end: as deltas if it has published nothing, otherwise as a snapshot.
 */
export interface EventHub {
  listen(listener: HubListener): () => void;
  publish(events: readonly DurableEvent[]): void;
  openLane(lane: LaneOptions): Lane;
  openRelay(lane: LaneOptions): LaneRelay;
  /** True if `openLane` of this hub opened it. Then its events have been published, and must be ignored when they come back through the channel or a stored draft. */
  isOwn(lane: number): boolean;
  /** One snapshot per open lane, for a reader that joins now. */
  snapshots(runId?: string): readonly EphemeralEvent[];
}

/** The number of own lanes that are remembered after they were closed. An open lane is never forgotten. */
const ownLanesMax = 64;

/** `outward` gets the deltas of the effects of this process. It gets no durable events, because the handle that appends facts publishes those. */
export function createEventHub(outward?: (events: readonly EphemeralEvent[]) => void): EventHub {
  return new SessionHub(outward);
}

class SessionHub implements EventHub {
  readonly outward: ((events: readonly EphemeralEvent[]) => void) | undefined;
  readonly lanes = new Map<number, OpenLane>();
  readonly #listeners = new Set<HubListener>();
  /** The newest of the lanes that were opened here. */
  readonly #ownLanes = new Set<number>();
  readonly #answers = createStreamedAnswers();

  constructor(outward: ((events: readonly EphemeralEvent[]) => void) | undefined) {
    this.outward = outward;
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  listen(listener: HubListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  publish(events: readonly DurableEvent[]): void {
    let batch: SessionEvent[] = [];
    let runId: string | undefined;
    for (const event of events) {
      if (batch.length > 0 && event.runId !== runId) {
        this.deliver(batch, runId);
        batch = [];
      }
      runId = event.runId;
      const unpublished = this.#answers.before(event, this.lanes);
      if (!this.hasListeners) continue;
      if (unpublished.length > 0) batch.push(...unpublished);
      batch.push(event);
    }
    if (batch.length > 0) this.deliver(batch, runId);
  }

  deliver(events: readonly SessionEvent[], runId: string | undefined): void {
    for (const listener of this.#listeners) listener(events, runId);
  }

  openLane(options: LaneOptions): Lane {
    const own = this.#ownLanes;
    own.add(options.id);
    if (own.size > ownLanesMax + this.lanes.size) {
      for (const oldest of [...own].filter((lane) => !this.lanes.has(lane)).slice(0, ownLanesMax / 2)) own.delete(oldest);
    }
    return this.#open(new OwnLane(this, options), options);
  }

  openRelay(options: LaneOptions): LaneRelay {
    return this.#open(new RelayedLane(this, options), options);
  }

  #open<L extends OpenLane>(lane: L, { id, isAnswer }: LaneOptions): L {
    this.lanes.set(id, lane);
    if (isAnswer) this.#answers.opened(id);
    return lane;
  }

  leave(id: number): void {
    const lane = this.lanes.get(id);
    if (lane) this.#answers.left(id, lane);
    this.lanes.delete(id);
  }

  isOwn(lane: number): boolean {
    return this.#ownLanes.has(lane);
  }

  snapshots(runId?: string): readonly EphemeralEvent[] {
    const events: EphemeralEvent[] = [];
    for (const [id, lane] of this.lanes) {
      // A lane without events needs no snapshot.
      const body = lane.n > 0 && (runId === undefined || lane.runId === runId) ? lane.snapshot() : undefined;
      if (body) events.push(numbered(body, id, lane.n));
    }
    return events;
  }
}

class OpenLane implements StreamedLane {
  readonly id: number;
  readonly runId: string;
  readonly snapshot: () => EphemeralBody | undefined;
  protected readonly hub: SessionHub;
  n = 0;

  constructor(hub: SessionHub, { id, runId, snapshot }: LaneOptions) {
    this.hub = hub;
    this.id = id;
    this.runId = runId;
    this.snapshot = snapshot;
  }
}

class OwnLane extends OpenLane implements Lane {
  get isReceived(): boolean {
    return this.hub.hasListeners || this.hub.outward !== undefined;
  }

  emit(bodies: readonly EphemeralBody[]): void {
    const { hub, id, runId } = this;
    if (bodies.length === 0 || !hub.lanes.has(id)) return;
    for (const body of bodies) numbered(body, id, ++this.n);
    const events = bodies as readonly EphemeralEvent[];
    hub.deliver(events, runId);
    hub.outward?.(events);
  }

  passOver(): void {
    if (this.hub.lanes.has(this.id)) this.n += 1;
  }

  close(): void {
    this.hub.leave(this.id);
  }
}

class RelayedLane extends OpenLane implements LaneRelay {
  get #isOpen(): boolean {
    return this.hub.lanes.get(this.id) === this;
  }

  publish(events: readonly EphemeralEvent[]): void {
    const last = events.at(-1);
    if (!last || !this.#isOpen) return;
    this.n = last.n;
    this.hub.deliver(events, this.runId);
  }

  close(): void {
    if (this.#isOpen) this.hub.leave(this.id);
  }
}

/** Changes the given body, so that a delta needs one object, not two. The caller must not use the body afterwards. */
function numbered(body: EphemeralBody, lane: number, n: number): EphemeralEvent {
  const event = body as { -readonly [Name in "lane" | "n"]?: number } & EphemeralBody;
  event.lane = lane;
  event.n = n;
  return event as EphemeralEvent;
}
