import type { AgentEvent, ExecuteStream } from "@loopwright/core/protocol";
import { eventStreamResponse } from "@loopwright/server";
import { type AnswerHead, chunkOf, usageChunkOf } from "./chat-answer.ts";
import { ChatPieces, TextWithdrawn } from "./chat-pieces.ts";
import { openAiErrorOf, RequestRefused } from "./openai-error.ts";

/** A run that has been accepted, and how its caller wants the answer. */
export interface RunningChat {
  readonly head: AnswerHead;
  readonly stream: ExecuteStream;
  readonly events: AsyncIterable<AgentEvent>;
  /** Names of the tools that the caller declared. */
  readonly tools: ReadonlySet<string>;
  readonly isFormed: boolean;
  readonly includesUsage: boolean;
  /** A caller that leaves has stopped the run: the API has no other way to stop one. */
  readonly stopsWhenLeft: boolean;
}

/** A streamed answer. */
export function chatStream(chat: RunningChat): Response {
  return eventStreamResponse(chatFrames(chat), {
    // The log refuses to stop a run that is over.
    left: () => chat.stopsWhenLeft && chat.stream.abort("client_left").catch(() => undefined),
  });
}

const frameOf = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

async function* chatFrames(chat: RunningChat): AsyncGenerator<string, void> {
  const { head, stream, tools, includesUsage } = chat;
  const pieces = new ChatPieces({ isFormed: chat.isFormed });
  yield frameOf(chunkOf(head, { role: "assistant", content: "" }));
  try {
    for await (const event of chat.events) for (const piece of pieces.take(event)) yield frameOf(chunkOf(head, piece));
    const result = await stream.result();
    if (result.error) throw result.error;
    const end = pieces.finish(result, { sessionId: stream.sessionId, tools });
    for (const piece of end.pieces) yield frameOf(chunkOf(head, piece));
    yield frameOf(chunkOf(head, {}, end.finishReason));
    if (includesUsage) yield frameOf(usageChunkOf(head, result.usage));
    yield "data: [DONE]\n\n";
  } catch (error) {
    yield frameOf({ error: openAiErrorOf(error instanceof TextWithdrawn ? withdrawn(error) : error) });
  }
}

const withdrawn = ({ message }: TextWithdrawn): RequestRefused => new RequestRefused(message, { status: 502, code: "answer_withdrawn" });
