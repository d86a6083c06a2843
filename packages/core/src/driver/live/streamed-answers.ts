import { answeringAfter, answerOf, hasWritten, unsentOf } from "../../loop/answer-still-to-publish.ts";
import type { DurableEvent, EphemeralBody, EphemeralEvent } from "../../loop/event.ts";

/** The events that a lane has published here so far. */
export interface StreamedLane {
  /** The snapshot that replaces the events. */
  readonly snapshot: () => EphemeralBody | undefined;
  /** Number of the lane's last event; 0: none. */
  n: number;
}

/** Tracks the answer that is being written, and how much of it its lane has published here. */
export interface StreamedAnswers {
  /** Called when the lane of an answer was opened. */
  opened(id: number): void;
  /** Called when a lane was closed; its end may be published later. */
  left(id: number, lane: StreamedLane): void;
  /** Called for each event, in order. If the event ends an answer: the events that the lane of the answer must still publish before it. */
  before(event: DurableEvent, lanes: ReadonlyMap<number, StreamedLane>): readonly EphemeralEvent[];
}

export function createStreamedAnswers(): StreamedAnswers {
  let answering: number | undefined;
  /** The lane of that answer, if the lane was closed before the end of the answer was published; of several lanes, the last one with events. */
  let closed: StreamedLane | undefined;
  return {
    opened(id) {
      if (id !== answering) closed = undefined;
      answering = id;
    },
    left(id, lane) {
      if (id === answering && (lane.n > 0 || !closed)) closed = lane;
    },
    before(event, lanes) {
      const id = answering;
      answering = answeringAfter(event, id);
      const answer = answerOf(event);
      const open = id === undefined ? undefined : lanes.get(id);
      // A lane that was opened again has published nothing to newer readers, and a part of the answer to older ones.
      const isAnew = open?.n === 0 && closed !== undefined && closed.n > 0;
      const lane = open ?? closed;
      if (answering !== id) closed = undefined;
      if (!answer || id === undefined) return [];
      if (isAnew) return unsentOf(answer, { lane: id, written: 1 });
      const written = lane?.n ?? 0;
      return written > 0 && hasWritten(lane?.snapshot(), answer) ? [] : unsentOf(answer, { lane: id, written });
    },
  };
}
