import type { EventSink, OpenSink } from "../src/stream/event-sink.ts";

/** The same sink with some of its members replaced. */
function sinkWith(sink: EventSink, change: (sink: EventSink) => Partial<EventSink>): EventSink {
  return {
    write: (bytes) => sink.write(bytes),
    get queuedBytes() {
      return sink.queuedBytes;
    },
    onDrain: (callback) => sink.onDrain(callback),
    onClose: (callback) => sink.onClose(callback),
    end: () => sink.end(),
    destroy: () => sink.destroy(),
    ...change(sink),
  };
}

/** A sink whose account of what is queued is another. */
function counting(sink: EventSink, count: (queuedBytes: number) => number): EventSink {
  return Object.defineProperty(
    sinkWith(sink, () => ({})),
    "queuedBytes",
    { get: () => count(sink.queuedBytes) },
  );
}

/** Defects of sinks that a reader without reads has to show, by name. */
export const sinkDefects: { readonly [name: string]: (sink: EventSink) => EventSink } = {
  "half of what is queued is counted": (sink) => counting(sink, (bytes) => bytes / 2),
  "nothing that is queued is counted": (sink) => counting(sink, () => 0),
  "a stream that stands still is not cut": (sink) => sinkWith(sink, () => ({ destroy: () => {} })),
  "nobody is told that a stream is over": (sink) => sinkWith(sink, () => ({ onClose: () => {} })),
};

/** Opens sinks with a defect. */
export function defectiveSinks(openSink: OpenSink, defect: (sink: EventSink) => EventSink): OpenSink {
  return (head) => {
    const { sink, response } = openSink(head);
    return { sink: defect(sink), response };
  };
}
