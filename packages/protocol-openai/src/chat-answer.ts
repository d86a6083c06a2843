import type { Usage } from "@loopwright/core/protocol";
import type { ChatCall, ChatPiece, FinishReason } from "./chat-pieces.ts";

/** What all objects of one answer have in common. */
export interface AnswerHead {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly model: string;
}

/** A `chat.completion.chunk` with one choice. */
export const chunkOf = (
  head: AnswerHead,
  delta: ChatPiece | { readonly role: "assistant"; readonly content: "" } | object,
  finish: FinishReason | null = null,
): object => ({
  ...{ id: head.id, object: "chat.completion.chunk", created: head.created, model: head.model },
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
});

/** The last chunk of an answer whose usage was asked for. */
export const usageChunkOf = (head: AnswerHead, usage: Usage | undefined): object => ({
  ...{ id: head.id, object: "chat.completion.chunk", created: head.created, model: head.model },
  choices: [],
  usage: usageOf(usage),
});

/** The whole answer as one `chat.completion`: what the pieces of a streamed one make together. */
export function completionOf(
  head: AnswerHead,
  { pieces, finishReason, usage }: { pieces: readonly ChatPiece[]; finishReason: FinishReason; usage: Usage | undefined },
): object {
  const content = pieces.map((piece) => ("content" in piece ? piece.content : "")).join("");
  const reasoning = pieces.map((piece) => ("reasoning_content" in piece ? piece.reasoning_content : "")).join("");
  const calls: ChatCall[] = pieces.flatMap((piece) => ("tool_calls" in piece ? piece.tool_calls.map(({ index: _, ...call }) => call) : []));
  return {
    ...{ id: head.id, object: "chat.completion", created: head.created, model: head.model },
    choices: [
      {
        index: 0,
        message: {
          ...{ role: "assistant", content: content === "" && calls.length > 0 ? null : content, refusal: null },
          ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        logprobs: null,
        finish_reason: finishReason,
      },
    ],
    usage: usageOf(usage),
  };
}

/** The usage of a run in the words of the API: all model calls together, cached tokens among those of the prompt. */
function usageOf({ input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 }: Usage = {}): object {
  const prompt = input + cacheRead + cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
