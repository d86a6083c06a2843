import type { JsonObject, Usage } from "@loopwright/core/protocol";
import type { OpenAiError } from "./openai-error.ts";

/** What all states of one response have in common. */
export interface ResponseHead {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly createdAt: number;
  readonly model: string;
  /** Absent where only the id of the response is known. */
  readonly previousId?: string | undefined;
  readonly isBackground?: boolean;
}

/** An item of a response. */
export type ResponseItem = JsonObject & { readonly id: string; readonly type: "message" | "reasoning" | "function_call" };

export type ResponseStatus = "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";

/** What changes of a response while it is made. */
export interface ResponseState {
  readonly status: ResponseStatus;
  readonly output: readonly ResponseItem[];
  readonly usage?: Usage | undefined;
  readonly error?: OpenAiError;
}

/** A `response` of OpenAI's API. */
export function responseOf({ id, createdAt, model, previousId, isBackground }: ResponseHead, state: ResponseState): object {
  const { status, output, usage, error } = state;
  return {
    ...{ id, object: "response", created_at: createdAt, status, model },
    error: error ? { code: error.code ?? "server_error", message: error.message } : null,
    incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
    ...{
      instructions: null,
      metadata: {},
      output,
      parallel_tool_calls: true,
      temperature: null,
      tool_choice: "auto",
      tools: [],
      top_p: null,
    },
    ...(previousId === undefined ? {} : { previous_response_id: previousId }),
    ...(isBackground === undefined ? {} : { background: isBackground }),
    ...(status === "in_progress" ? {} : { usage: usageOf(usage) }),
  };
}

function usageOf({ input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 }: Usage = {}): object {
  const prompt = input + cacheRead + cacheWrite;
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: prompt + output,
  };
}
