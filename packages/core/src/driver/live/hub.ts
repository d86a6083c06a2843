import type { DurableEvent, EphemeralBody, EphemeralEvent, SessionEvent } from "../../loop/event.ts";
import { createSpokenAnswers, type SpokenLane } from "./spoken-answers.ts";

/** Takes events of a session as they come; `runId` is the run they belong to. Must not throw and not keep the array. */
export type HubListener = (events: readonly SessionEvent[], runId: string | undefined) => void;

/** Where one model call or tool says what it does; closed by its closing fact. */
export interface Lane {
  /** Seq of the intent fact. */
  readonly id: number;
  readonly runId: string;
  /** False while nobody listens and no other node can: what is said then need not be made into events. */
  readonly isHeard: boolean;
  /** Tells every listener; numbers the events. */
  emit(bodies: readonly EphemeralBody[]): void;
  /** Something was said that nobody heard: whoever joins gets it in the snapshot. */
  passOver(): void;
  close(): void;
}

/** A lane whose owner is another handle: what it says is told here as it came. */
export interface ForeignLane {
  /** Tells every listener; the events are numbered. */
  tell(events: readonly EphemeralEvent[]): void;
  close(): void;
}

export interface LaneOptions {
  readonly id: number;
  readonly runId: string;
  /** It says an answer; else it is a tool's. */
  readonly isAnswer: boolean;
  /** What replaces all deltas so far. */
  readonly snapshot: () => EphemeralBody | undefined;
}

/**
 * The driver's in-process fan-out: every listener sees every event once, in order. What an answer did not say in its lane it says right before its
 * end: as deltas where it has said nothing, else as a snapshot.
 */
export interface Hub {
  listen(listener: HubListener): () => void;
  publish(events: readonly DurableEvent[]): void;
  openLane(lane: LaneOptions): Lane;
  openForeignLane(lane: LaneOptions): ForeignLane;
  /** Whether the lane was opened here: what comes back of it, from the channel or as a draft, was told. */
  isOwn(lane: number): boolean;
  /** One snapshot per open lane: the state for somebody who joins now. */
  snapshots(runId?: string): readonly EphemeralEvent[];
}

/** More lanes than a session can have open. */
const ownLanesMax = 64;

/** `outward` is told what this process says itself: the deltas of its effects. Facts go out by whoever appended them. */
export function createHub(outward?: (events: readonly EphemeralEvent[]) => void): Hub {
  return new SessionHub(outward);
}

class SessionHub implements Hub {
  readonly outward: ((events: readonly EphemeralEvent[]) => void) | undefined;
  readonly lanes = new Map<number, OpenLane>();
  readonly #listeners = new Set<HubListener>();
  /** Opened here, the newest of them. */
  readonly #ownLanes = new Set<number>();
  readonly #answers = createSpokenAnswers();

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
        this.tell(batch, runId);
        batch = [];
      }
      runId = event.runId;
      const untold = this.#answers.before(event, this.lanes);
      if (this.hasListeners) batch.push(...untold, event);
    }
    if (batch.length > 0) this.tell(batch, runId);
  }

  tell(events: readonly SessionEvent[], runId: string | undefined): void {
    for (const listener of this.#listeners) listener(events, runId);
  }

  openLane(options: LaneOptions): Lane {
    const own = this.#ownLanes;
    own.add(options.id);
    if (own.size > ownLanesMax) for (const oldest of [...own].slice(0, ownLanesMax / 2)) own.delete(oldest);
    return this.#open(new OwnLane(this, options), options);
  }

  openForeignLane(options: LaneOptions): ForeignLane {
    return this.#open(new HeardLane(this, options), options);
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
      // A lane that has said nothing has nothing to catch up with.
      const body = lane.n > 0 && (runId === undefined || lane.runId === runId) ? lane.snapshot() : undefined;
      if (body) events.push(numbered(body, id, lane.n));
    }
    return events;
  }
}

class OpenLane implements SpokenLane {
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
  get isHeard(): boolean {
    return this.hub.hasListeners || this.hub.outward !== undefined;
  }

  emit(bodies: readonly EphemeralBody[]): void {
    const { hub, id, runId } = this;
    if (bodies.length === 0 || !hub.lanes.has(id)) return;
    for (const body of bodies) numbered(body, id, ++this.n);
    const events = bodies as readonly EphemeralEvent[];
    hub.tell(events, runId);
    hub.outward?.(events);
  }

  passOver(): void {
    if (this.hub.lanes.has(this.id)) this.n += 1;
  }

  close(): void {
    this.hub.leave(this.id);
  }
}

class HeardLane extends OpenLane implements ForeignLane {
  get #isOpen(): boolean {
    return this.hub.lanes.get(this.id) === this;
  }

  tell(events: readonly EphemeralEvent[]): void {
    const last = events.at(-1);
    if (!last || !this.#isOpen) return;
    this.n = last.n;
    this.hub.tell(events, this.runId);
  }

  close(): void {
    if (this.#isOpen) this.hub.leave(this.id);
  }
}

/** Writes into the body, which nobody else has: one object per delta, not two. */
function numbered(body: EphemeralBody, lane: number, n: number): EphemeralEvent {
  const event = body as { -readonly [Name in "lane" | "n"]?: number } & EphemeralBody;
  event.lane = lane;
  event.n = n;
  return event as EphemeralEvent;
}
