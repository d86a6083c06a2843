import type { ExecuteStream } from "@loopwright/core/protocol";
import { eventStreamResponse } from "@loopwright/server";
import type { AgUiEvent } from "./ag-ui-event.ts";
import { type AgUiEvents, errorOf } from "./ag-ui-events.ts";
import type { AgentRecord } from "./subagents.ts";

/** What an answer is made of. */
interface Answer {
  readonly stream: ExecuteStream;
  readonly events: AgUiEvents;
  /** The session of an agent below the run. */
  readonly record: (session: string) => Promise<AgentRecord | undefined>;
  /** Called when the page leaves. */
  readonly leave: () => void;
}

/** A run as the answer to a request. */
export function eventStream(answer: Answer): Response {
  return eventStreamResponse(framesOf(answer), { left: answer.leave });
}

const frameOf = (event: AgUiEvent): string => `data: ${JSON.stringify(event)}\n\n`;

async function* framesOf({ stream, events, record }: Answer): AsyncGenerator<string, void> {
  yield events.start().map(frameOf).join("");
  try {
    for await (const event of stream) {
      const ended = events.endedBy(event);
      const frames = events
        .take(event, ended === undefined ? undefined : await record(ended))
        .map(frameOf)
        .join("");
      if (frames !== "") yield frames;
    }
    const result = await stream.result();
    const records = new Map<string, AgentRecord>();
    for (const session of events.openAgents) {
      const found = await record(session);
      if (found) records.set(session, found);
    }
    yield events.finish(result, records).map(frameOf).join("");
  } catch (error) {
    yield frameOf(errorOf(error));
  }
}
