import type { EventSink, OpenSink } from "../src/stream/event-sink.ts";

/** What becomes of the frames of one stream: given one, in order, it gives what is written in its place. */
export type SpoilFrames = () => (frame: string) => readonly string[];

/** Sinks that write something else than they are given: a feed with a defect, as its readers see it. */
export function spoiledSinks(openSink: OpenSink, spoil: SpoilFrames): OpenSink {
  return (head) => {
    const { sink, response } = openSink(head);
    const change = spoil();
    const spoiled: EventSink = {
      write(bytes) {
        const frames = new TextDecoder().decode(bytes).split(/(?<=\n\n)/);
        const text = frames.flatMap(change).join("");
        if (text !== "") sink.write(new TextEncoder().encode(text));
      },
      get queuedBytes() {
        return sink.queuedBytes;
      },
      onDrain: (callback) => sink.onDrain(callback),
      onClose: (callback) => sink.onClose(callback),
      end: () => sink.end(),
      destroy: () => sink.destroy(),
    };
    return { sink: spoiled, response };
  };
}

const isDurable = (frame: string): boolean => frame.startsWith("id: ");

/** True for the so-many-th of all streams together. */
const every = (count: number): (() => boolean) => {
  let seen = 0;
  return () => ++seen % count === 0;
};

/** Defects of feeds, by name. Each is made anew for a test. */
export const feedDefects: { readonly [name: string]: () => SpoilFrames } = {
  "a durable frame is skipped"() {
    const isTurn = every(50);
    return () => (frame) => (isDurable(frame) && isTurn() ? [] : [frame]);
  },
  "a frame is sent again when a reader is caught up"() {
    const isTurn = every(50);
    return () => (frame) => (isDurable(frame) && isTurn() ? [frame, frame] : [frame]);
  },
  "what is live comes before what was missed"() {
    const isTurn = every(20);
    return () => {
      let held: string | undefined;
      return (frame) => {
        if (held !== undefined) {
          const late = held;
          held = undefined;
          return [frame, late];
        }
        if (!isDurable(frame) || !isTurn()) return [frame];
        held = frame;
        return [];
      };
    };
  },
  "the frames of a lane come before its opening"() {
    return () => {
      let opening: string | undefined;
      return (frame) => {
        if (opening !== undefined) {
          const late = opening;
          opening = undefined;
          return [frame, late];
        }
        if (!/^id: .*\nevent: (?:message_start|tool_execution_start)\n/.test(frame) || !frame.includes('"role":"assistant"'))
          return [frame];
        opening = frame;
        return [];
      };
    };
  },
  "the id of an event names another place in its fact"() {
    return () => (frame) => [frame.replace(/^id: (\d+)\.0\n/, "id: $1.1\n")];
  },
  "a delta is lost without a snapshot"() {
    const isTurn = every(50);
    return () => (frame) => (frame.startsWith("event: text_delta") && isTurn() ? [] : [frame]);
  },
  "who comes back gets no snapshot of the open lanes"() {
    return () => (frame) => (frame.startsWith("event: message_snapshot") ? [] : [frame]);
  },
};
