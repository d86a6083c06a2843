import type { ExecuteStream } from "@loopwright/core/protocol";
import { eventStreamResponse } from "@loopwright/server";
import type { AgUiEvent } from "./ag-ui-event.ts";
import { type AgUiEvents, errorOf } from "./ag-ui-events.ts";

/** A run as the answer to a request. `leave` is called when the page leaves. */
export function eventStream(stream: ExecuteStream, events: AgUiEvents, leave: () => void): Response {
  return eventStreamResponse(framesOf(stream, events), { left: leave });
}

const frameOf = (event: AgUiEvent): string => `data: ${JSON.stringify(event)}\n\n`;

async function* framesOf(stream: ExecuteStream, events: AgUiEvents): AsyncGenerator<string, void> {
  yield events.start().map(frameOf).join("");
  try {
    for await (const event of stream) {
      const frames = events.take(event).map(frameOf).join("");
      if (frames !== "") yield frames;
    }
    yield events
      .finish(await stream.result())
      .map(frameOf)
      .join("");
  } catch (error) {
    yield frameOf(errorOf(error));
  }
}
