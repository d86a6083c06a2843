import type { AgentEvent, ExecuteStream } from "@loopwright/core/protocol";
import type { AgUiEvent } from "./ag-ui-event.ts";
import { type AgUiEvents, errorOf } from "./ag-ui-events.ts";

/** How often a silent stream shows that it lives, in milliseconds. */
const keepAliveMs = 15_000;

/** A run as the answer to a request. The next event is read when the page has taken the one before; `leave` is called when the page leaves. */
export function eventStream(stream: ExecuteStream, events: AgUiEvents, leave: () => void): Response {
  const encoder = new TextEncoder();
  const frames = framesOf(stream, events);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await frames.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    },
  });
}

const frameOf = (event: AgUiEvent): string => `data: ${JSON.stringify(event)}\n\n`;

async function* framesOf(stream: ExecuteStream, events: AgUiEvents): AsyncGenerator<string, void> {
  yield events.start().map(frameOf).join("");
  try {
    for await (const event of livingEvents(stream[Symbol.asyncIterator]())) {
      if (event === undefined) yield ": keep-alive\n\n";
      else {
        const frames = events.take(event).map(frameOf).join("");
        if (frames !== "") yield frames;
      }
    }
    yield events
      .finish(await stream.result())
      .map(frameOf)
      .join("");
  } catch (error) {
    yield frameOf(errorOf(error));
  }
}

/** The events, and `undefined` after each `keepAliveMs` without one. */
async function* livingEvents(events: AsyncIterator<AgentEvent>): AsyncGenerator<AgentEvent | undefined, void> {
  for (;;) {
    const next = events.next();
    let read = await soon(next);
    while (read === undefined) {
      yield undefined;
      read = await soon(next);
    }
    if (read.done) return;
    yield read.value;
  }
}

/** What a promise gives, or `undefined` where it gives nothing in time. */
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
