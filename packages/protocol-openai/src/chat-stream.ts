import type { AgentEvent, ExecuteStream } from "@loopwright/core/protocol";
import { type AnswerHead, chunkOf, usageChunkOf } from "./chat-answer.ts";
import { ChatPieces, TextWithdrawn } from "./chat-pieces.ts";
import { openAiErrorOf, RequestRefused } from "./openai-error.ts";

/** A run that has been accepted, and how its caller wants the answer. */
export interface RunningChat {
  readonly head: AnswerHead;
  readonly stream: ExecuteStream;
  readonly events: AsyncIterator<AgentEvent>;
  /** Names of the tools that the caller declared. */
  readonly tools: ReadonlySet<string>;
  readonly includesUsage: boolean;
  /** A caller that leaves has stopped the run: the API has no other way to stop one. */
  readonly stopsWhenLeft: boolean;
}

/** How often a silent stream shows that it lives, in milliseconds. */
const keepAliveMs = 15_000;

/** A streamed answer. The next piece is read when the client has taken the one before. */
export function chatStream(chat: RunningChat): Response {
  const encoder = new TextEncoder();
  const frames = chatFrames(chat);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await frames.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      async cancel() {
        // What the log refuses now was over before.
        if (chat.stopsWhenLeft) await chat.stream.abort("client_left").catch(() => undefined);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" },
  });
}

const frameOf = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

async function* chatFrames(chat: RunningChat): AsyncGenerator<string, void> {
  const { head, stream, tools, includesUsage } = chat;
  const pieces = new ChatPieces();
  yield frameOf(chunkOf(head, { role: "assistant", content: "" }));
  try {
    for await (const event of livingEvents(chat.events)) {
      if (event === undefined) yield ": keep-alive\n\n";
      else for (const piece of pieces.take(event)) yield frameOf(chunkOf(head, piece));
    }
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
