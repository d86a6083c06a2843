/**
 * Takes the bytes of one event stream, for a response of the platform. Web-standard servers read them as a `ReadableStream`; an adapter that can
 * write to its sockets itself (`/node`) gives its own sinks, so that a frame is encoded once for all readers.
 */
export interface EventSink {
  /** Queues the bytes. Never waits, never throws. */
  write(bytes: Uint8Array): void;
  /** Bytes that the other side has not taken yet. */
  readonly queuedBytes: number;
  /** Calls back once when the queue has run empty, or the stream is over. */
  onDrain(callback: () => void): void;
  /** Calls back once when the stream is over, whichever side ended it. */
  onClose(callback: () => void): void;
  /** Ends the stream after the queued bytes. */
  end(): void;
  /** Cuts the stream at once. */
  destroy(): void;
}

/** The beginning of a stream. */
export interface SinkHead {
  readonly status: number;
  readonly headers: Headers;
}

/** Opens the sink of the current request; the handler must return its response to the adapter. */
export type OpenSink = (head: SinkHead) => { readonly sink: EventSink; readonly response: Response };
