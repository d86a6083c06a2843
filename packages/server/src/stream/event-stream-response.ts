import { streamHeaders } from "./stream-headers.ts";

/** How often a silent stream shows that it is alive, in milliseconds. */
const keepAliveMs = 15_000;

export interface EventStreamOptions {
  /** Called when the client leaves before the end. Then `frames` is not read further. */
  readonly left?: () => unknown;
  /** Headers beside those of an event stream. */
  readonly headers?: { readonly [name: string]: string };
}

/**
 * The response of an extension route that streams server-sent events. `frames`: whole frames as text, each with its blank line. A frame is read when the client
 * has taken the one before; after each 15 seconds without a frame a comment is sent. An error of `frames` breaks the connection: write the error as a frame.
 */
export function eventStreamResponse(frames: AsyncIterable<string>, { left, headers }: EventStreamOptions = {}): Response {
  const encoder = new TextEncoder();
  const iterator = frames[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<string>> | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        next ??= iterator.next();
        const frame = await soon(next);
        if (frame) next = undefined;
        if (frame?.done) controller.close();
        else controller.enqueue(encoder.encode(frame ? frame.value : ": keep-alive\n\n"));
      },
      async cancel() {
        await left?.();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: streamHeaders(headers) });
}

/** The value of the promise, or `undefined` if it has none after `keepAliveMs`. */
async function soon<Value>(promise: Promise<Value>): Promise<Value | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, keepAliveMs, undefined);
  });
  try {
    return await Promise.race([promise, silence]);
  } finally {
    clearTimeout(timer);
  }
}
