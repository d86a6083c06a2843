import { type AssistantPart, createAssembler, type Message, type ModelChunk } from "@loopwright/core";
import type { ModelProvider, ModelRequest, ToolSpec } from "@loopwright/core/ports";

/** A request with this one user message, and whatever else is given. */
export function asking(text: string, more: Partial<ModelRequest> = {}): ModelRequest {
  return { model: "m", messages: [{ role: "user", content: text }], ...more };
}

/** A tool whose schema is an object of these properties, all required. */
export function toolOf(name: string, properties: ToolSpec["parameters"] = {}, description = "A tool."): ToolSpec {
  return { name, description, parameters: { type: "object", properties, required: Object.keys(properties) } };
}

export interface Collected {
  readonly batches: readonly (readonly ModelChunk[])[];
  readonly chunks: readonly ModelChunk[];
  readonly parts: readonly AssistantPart[];
  readonly end: Extract<ModelChunk, { type: "end" }> | undefined;
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: unknown }[];
  readonly error: unknown;
}

/** Everything one call of the provider gives, an error included. */
export async function collect(
  provider: ModelProvider,
  request: ModelRequest,
  io: { readonly signal?: AbortSignal; readonly attempt?: number } = {},
): Promise<Collected> {
  const batches: (readonly ModelChunk[])[] = [];
  let error: unknown;
  try {
    const stream = provider.stream(request, { signal: io.signal ?? new AbortController().signal, attempt: io.attempt ?? 1 });
    for await (const batch of stream) batches.push(batch);
  } catch (thrown) {
    error = thrown;
  }
  const chunks = batches.flat();
  const assembler = createAssembler();
  for (const chunk of chunks) assembler.push(chunk);
  const { parts } = assembler.finish("run.1");
  return {
    batches,
    chunks,
    parts,
    end: chunks.find((chunk) => chunk.type === "end"),
    text: parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
    calls: parts.flatMap((part) => (part.type === "tool_call" ? [{ name: part.name, args: part.args }] : [])),
    error,
  };
}

/** The history after the model has called these tools and got these results. */
export function answered(
  text: string,
  results: readonly { readonly name: string; readonly output: string; readonly isError?: boolean }[],
): readonly Message[] {
  return [
    { role: "user", content: text },
    {
      role: "assistant",
      stopReason: "tool_calls",
      content: results.map(({ name }, at) => ({ type: "tool_call", callKey: `r.1.${at}`, id: `id_${at}`, name, args: {} }) as const),
    },
    ...results.map(
      ({ output, isError }, at): Message => ({
        role: "tool_result",
        toolCallId: `id_${at}`,
        content: output,
        ...(isError ? { isError } : {}),
      }),
    ),
  ];
}
