import { type Assembled, createAssembler, type ModelChunk } from "@loopwright/core";
import type { ModelRequest } from "@loopwright/core/ports";
import { gemini } from "../src/index.ts";
import type { GeminiOptions } from "../src/options.ts";

export interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
  readonly signal: AbortSignal | null | undefined;
}

/** A transport that answers each call with the same body and remembers what was sent. */
export function canned(
  body: string | (() => ReadableStream<Uint8Array>),
  init: ResponseInit = {},
): { readonly fetch: typeof fetch; readonly sent: Sent[] } {
  const sent: Sent[] = [];
  const answer: typeof fetch = async (input, request) => {
    sent.push({
      url: String(input),
      headers: new Headers(request?.headers),
      body: JSON.parse(String(request?.body)) as Record<string, unknown>,
      signal: request?.signal,
    });
    const headers = { "content-type": "text/event-stream", ...init.headers };
    return new Response(typeof body === "function" ? body() : body, { ...init, headers });
  };
  return { fetch: answer, sent };
}

/** An event stream of these answers. */
export function eventsOf(...answers: readonly unknown[]): string {
  return answers.map((answer) => `data: ${JSON.stringify(answer)}\r\n\r\n`).join("");
}

/** One answer with these parts, finished unless the test sets it otherwise. */
export function answerWith(parts: readonly unknown[], finishReason: string | null = "STOP", more: object = {}): object {
  return { candidates: [{ content: { parts, role: "model" }, ...(finishReason === null ? {} : { finishReason }), ...more }] };
}

export const asked: ModelRequest = { model: "gemini-2.5-flash", messages: [{ role: "user", content: "hello" }] };

/** Makes one call and folds what it states; rejects with what it throws. */
export async function call(
  fetch: typeof globalThis.fetch,
  request: Partial<ModelRequest> = {},
  options: GeminiOptions = {},
): Promise<Assembled & { readonly chunks: readonly ModelChunk[] }> {
  const provider = gemini({ apiKey: "test-key", transport: fetch, ...options });
  const assembler = createAssembler();
  const chunks: ModelChunk[] = [];
  for await (const batch of provider.stream({ ...asked, ...request }, { signal: new AbortController().signal, attempt: 1 })) {
    chunks.push(...batch);
  }
  for (const chunk of chunks) assembler.push(chunk);
  return { ...assembler.finish("run.1"), chunks };
}
