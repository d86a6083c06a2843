import type { ExecuteStream } from "@loopwright/core/protocol";
import { eventStreamResponse } from "@loopwright/server";
import { sentenceOf } from "./chat-refused.ts";
import type { UiChunk } from "./ui-chunk.ts";
import type { UiChunks } from "./ui-chunks.ts";

/** A run as the answer to a request. `leave` is called when the page leaves. */
export function chatStream(stream: ExecuteStream, chunks: UiChunks, leave: () => void): Response {
  return eventStreamResponse(framesOf(stream, chunks), { left: leave, headers: { "x-vercel-ai-ui-message-stream": "v1" } });
}

const frameOf = (chunk: UiChunk): string => `data: ${JSON.stringify(chunk)}\n\n`;

async function* framesOf(stream: ExecuteStream, chunks: UiChunks): AsyncGenerator<string, void> {
  yield chunks.start().map(frameOf).join("");
  try {
    for await (const event of stream) {
      const frames = chunks.take(event).map(frameOf).join("");
      if (frames !== "") yield frames;
    }
    yield chunks
      .finish(await stream.result())
      .map(frameOf)
      .join("");
  } catch (error) {
    yield frameOf({ type: "error", errorText: sentenceOf(error) });
  }
  yield "data: [DONE]\n\n";
}
