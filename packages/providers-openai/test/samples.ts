import { type Assembled, createAssembler } from "@loopwright/core";
import type { ModelProvider, ModelRequest } from "@loopwright/core/ports";

/** One request of one message. */
export const request: ModelRequest = { model: "gpt-4.1", messages: [{ role: "user", content: "Hello" }] };

/** Runs a request to its end. */
export async function answerOf(
  provider: ModelProvider,
  asked: ModelRequest = request,
  signal: AbortSignal = new AbortController().signal,
): Promise<Assembled> {
  const assembler = createAssembler();
  for await (const chunks of provider.stream(asked, { signal, attempt: 1 })) for (const chunk of chunks) assembler.push(chunk);
  return assembler.finish("run.1");
}

/** A chunk of chat completions with this delta. */
export function chatChunk(delta: object, finishReason: string | null = null): object {
  return { id: "c", object: "chat.completion.chunk", model: "gpt-4.1-2025", choices: [{ index: 0, delta, finish_reason: finishReason }] };
}

/** The whole chat stream of a short answer. */
export const chatAnswer: readonly (object | string)[] = [
  chatChunk({ role: "assistant", content: "" }),
  chatChunk({ content: "Good " }),
  chatChunk({ content: "day." }),
  chatChunk({}, "stop"),
  {
    id: "c",
    choices: [],
    usage: {
      prompt_tokens: 1_000,
      completion_tokens: 20,
      total_tokens: 1_020,
      prompt_tokens_details: { cached_tokens: 900, cache_write_tokens: 40 },
      completion_tokens_details: { reasoning_tokens: 5 },
    },
  },
  "[DONE]",
];

/** The whole responses stream of a short answer. */
export const responsesAnswer: readonly object[] = [
  { type: "response.created", response: { status: "in_progress" } },
  { type: "response.output_item.added", output_index: 0, item: { type: "message" } },
  { type: "response.output_text.delta", output_index: 0, delta: "Good " },
  { type: "response.output_text.delta", output_index: 0, delta: "day." },
  { type: "response.output_item.done", output_index: 0, item: { type: "message", content: [{ type: "output_text", text: "Good day." }] } },
  {
    type: "response.completed",
    response: {
      status: "completed",
      model: "gpt-4.1-2025",
      usage: {
        input_tokens: 1_000,
        input_tokens_details: { cached_tokens: 900 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 0 },
      },
    },
  },
];
