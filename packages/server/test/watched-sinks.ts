import type { EventSink, OpenSink } from "../src/stream/event-sink.ts";

/** What one stream was seen to hold. */
export interface SinkRecord {
  readonly sink: EventSink;
  /** The most that was queued after any write. */
  mostQueued: number;
  /** The longest that was written at once. */
  longestWrite: number;
  written: number;
  isClosed: boolean;
}

/** Sinks that keep count of their queues. */
export function watchedSinks(): { readonly records: readonly SinkRecord[]; readonly spoil: (openSink: OpenSink) => OpenSink } {
  const records: SinkRecord[] = [];
  return {
    records,
    spoil: (openSink) => (head) => {
      const { sink, response } = openSink(head);
      const record: SinkRecord = { sink, mostQueued: 0, longestWrite: 0, written: 0, isClosed: false };
      records.push(record);
      sink.onClose(() => {
        record.isClosed = true;
      });
      const watched: EventSink = {
        write(bytes) {
          sink.write(bytes);
          record.written += bytes.byteLength;
          record.longestWrite = Math.max(record.longestWrite, bytes.byteLength);
          record.mostQueued = Math.max(record.mostQueued, sink.queuedBytes);
        },
        get queuedBytes() {
          return sink.queuedBytes;
        },
        onDrain: (callback) => sink.onDrain(callback),
        onClose: (callback) => sink.onClose(callback),
        end: () => sink.end(),
        destroy: () => sink.destroy(),
      };
      return { sink: watched, response };
    },
  };
}
