import type { EventSink, OpenSink } from "./event-sink.ts";

/** A sink over a `ReadableStream`: for every runtime that takes a web-standard response. */
export const openWebSink: OpenSink = ({ status, headers }) => {
  const { sink, body } = createWebSink();
  return { sink, response: new Response(body, { status, headers }) };
};

function createWebSink(): { readonly sink: EventSink; readonly body: ReadableStream<Uint8Array> } {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const drains: (() => void)[] = [];
  let closes: (() => void)[] = [];
  let isOver = false;

  const callAll = (callbacks: readonly (() => void)[]): void => {
    for (const callback of callbacks) callback();
  };
  const drained = (): void => callAll(drains.splice(0));
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    const waiting = closes;
    closes = [];
    drained();
    callAll(waiting);
  };
  /** The number of bytes that were enqueued and not read. */
  const queued = (): number => (controller ? Math.max(0, -(controller.desiredSize ?? 0)) : 0);

  const body = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
      },
      pull: () => void (queued() === 0 && drained()),
      cancel: over,
    },
    { highWaterMark: 0, size: (bytes) => bytes?.byteLength ?? 0 },
  );
  const sink: EventSink = {
    write(bytes) {
      if (!isOver) controller?.enqueue(bytes);
    },
    get queuedBytes() {
      return isOver ? 0 : queued();
    },
    onDrain(callback) {
      if (isOver || queued() === 0) callback();
      else drains.push(callback);
    },
    onClose(callback) {
      if (isOver) callback();
      else closes.push(callback);
    },
    end() {
      if (isOver) return;
      controller?.close();
      over();
    },
    destroy() {
      if (isOver) return;
      controller?.error(new Error("The stream was cut."));
      over();
    },
  };
  return { sink, body };
}
