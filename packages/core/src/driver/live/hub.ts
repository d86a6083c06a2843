import type { DurableEvent, EphemeralBody, EphemeralEvent, SessionEvent } from "../../loop/event.ts";
import { createSpokenAnswers, type SpokenLane } from "./spoken-answers.ts";

/** Takes events of a session as they come; `runId` is the run they belong to. Must not throw and not keep the array. */
export type HubListener = (events: readonly SessionEvent[], runId: string | undefined) => void;

/** Where one model call or tool says what it does; closed by its closing fact. */
export interface Lane {
  /** Seq of the intent fact. */
  readonly id: number;
  readonly runId: string;
  /** Tells every listener; numbers the events. */
  emit(bodies: readonly EphemeralBody[]): void;
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

interface OpenLane extends SpokenLane {
  readonly runId: string;
}

/** More lanes than a session can have open. */
const ownLanesMax = 64;

/** `outward` is told what this process says itself: the deltas of its effects. Facts go out by whoever appended them. */
export function createHub(outward?: (events: readonly EphemeralEvent[]) => void): Hub {
  const listeners = new Set<HubListener>();
  const lanes = new Map<number, OpenLane>();
  /** Opened here, the newest of them. */
  const ownLanes = new Set<number>();
  const answers = createSpokenAnswers();
  const leave = (id: number): void => {
    const lane = lanes.get(id);
    if (lane) answers.left(id, lane);
    lanes.delete(id);
  };
  const tell = (events: readonly SessionEvent[], runId: string | undefined): void => {
    for (const listener of listeners) listener(events, runId);
  };
  return {
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    publish(events) {
      let batch: SessionEvent[] = [];
      let runId: string | undefined;
      for (const event of events) {
        if (batch.length > 0 && event.runId !== runId) {
          tell(batch, runId);
          batch = [];
        }
        runId = event.runId;
        const untold = answers.before(event, lanes);
        if (listeners.size > 0) batch.push(...untold);
        batch.push(event);
      }
      if (batch.length > 0) tell(batch, runId);
    },
    openLane({ id, runId, isAnswer, snapshot }) {
      const open: OpenLane = { runId, snapshot, n: 0 };
      lanes.set(id, open);
      if (isAnswer) answers.opened(id);
      ownLanes.add(id);
      if (ownLanes.size > ownLanesMax) for (const oldest of [...ownLanes].slice(0, ownLanesMax / 2)) ownLanes.delete(oldest);
      return {
        id,
        runId,
        emit(bodies) {
          if (!lanes.has(id) || bodies.length === 0) return;
          for (const body of bodies) numbered(body, id, ++open.n);
          const events = bodies as readonly EphemeralEvent[];
          tell(events, runId);
          outward?.(events);
        },
        close: () => leave(id),
      };
    },
    openForeignLane({ id, runId, isAnswer, snapshot }) {
      const open: OpenLane = { runId, snapshot, n: 0 };
      lanes.set(id, open);
      if (isAnswer) answers.opened(id);
      return {
        tell(events) {
          const last = events.at(-1);
          if (!last || lanes.get(id) !== open) return;
          open.n = last.n;
          tell(events, runId);
        },
        close: () => void (lanes.get(id) === open && leave(id)),
      };
    },
    isOwn: (lane) => ownLanes.has(lane),
    snapshots: (runId) => snapshotsOf(lanes, runId),
  };
}

function snapshotsOf(lanes: ReadonlyMap<number, OpenLane>, runId: string | undefined): readonly EphemeralEvent[] {
  const events: EphemeralEvent[] = [];
  for (const [id, lane] of lanes) {
    // A lane that has said nothing has nothing to catch up with.
    const body = lane.n > 0 && (runId === undefined || lane.runId === runId) ? lane.snapshot() : undefined;
    if (body) events.push(numbered(body, id, lane.n));
  }
  return events;
}

/** Writes into the body, which nobody else has: one object per delta, not two. */
function numbered(body: EphemeralBody, lane: number, n: number): EphemeralEvent {
  const event = body as { -readonly [Name in "lane" | "n"]?: number } & EphemeralBody;
  event.lane = lane;
  event.n = n;
  return event as EphemeralEvent;
}
