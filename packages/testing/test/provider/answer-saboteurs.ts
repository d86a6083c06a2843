import type { ModelChunk } from "@loopwright/core";
import { honestParts } from "./honest-provider.ts";
import { type ModelProviderSaboteur, saboteur, withChunks, withParts } from "./provider-saboteurs.ts";

function oneChunk(change: (chunk: ModelChunk) => readonly ModelChunk[]): () => (chunk: ModelChunk) => readonly ModelChunk[] {
  return () => change;
}

function withReason(breaks: string, from: string, to: "stop" | "length"): ModelProviderSaboteur {
  return withChunks(
    breaks,
    `takes the end \`${from}\` for \`${to}\``,
    oneChunk((chunk) => (chunk.type === "end" && chunk.raw === from ? [{ type: "end", stopReason: to, raw: from }] : [chunk])),
  );
}

/** What they get wrong is an answer that comes as it should. */
export const answerSaboteurs: readonly ModelProviderSaboteur[] = [
  withChunks(
    "one-end",
    "ends twice",
    oneChunk((chunk) => (chunk.type === "end" ? [chunk, chunk] : [chunk])),
  ),
  withChunks(
    "blocks",
    "never ends a call",
    oneChunk((chunk) => (chunk.type === "call-end" ? [] : [chunk])),
  ),
  withChunks(
    "blocks",
    "continues a text that it has ended",
    oneChunk((chunk) => (chunk.type === "text" ? [chunk, { type: "block-end", index: chunk.index }] : [chunk])),
  ),
  withChunks("text", "takes a repeated piece for the same one", () => {
    let before = "";
    return (chunk) => {
      if (chunk.type !== "text") return [chunk];
      const isSame = chunk.delta === before;
      before = chunk.delta;
      return isSame ? [] : [chunk];
    };
  }),
  saboteur("as-it-comes", "hands every batch on when the next one has come", () => ({
    wrap: (provider) => ({
      ...provider,
      async *stream(request, io) {
        let held: readonly ModelChunk[] = [];
        let failure: { readonly error: unknown } | undefined;
        try {
          for await (const batch of provider.stream(request, io)) {
            if (held.length > 0) yield held;
            held = batch;
          }
        } catch (error) {
          failure = { error };
        }
        yield held;
        if (failure) throw failure.error;
      },
    }),
  })),
  withChunks(
    "thinking",
    "puts the thinking behind the text",
    oneChunk((chunk) =>
      (chunk.type === "thinking" || chunk.type === "opaque") && chunk.index === 0 ? [{ ...chunk, index: 40 }] : [chunk],
    ),
  ),
  withParts("unicode", "decodes every read by itself", {
    async *lines(body, signal) {
      const apart = new TransformStream<Uint8Array, Uint8Array>({
        transform: (bytes, controller) => controller.enqueue(new TextEncoder().encode(new TextDecoder().decode(bytes))),
      });
      yield* honestParts.lines(pipedByHand(body, apart), signal);
    },
  }),
  withChunks(
    "cut-pair",
    "makes each piece well-formed by itself",
    oneChunk((chunk) => ("delta" in chunk ? [{ ...chunk, delta: chunk.delta.replace(/\p{Surrogate}/gu, "\uFFFD") }] : [chunk])),
  ),
  withChunks(
    "unstreamed",
    "loses the calls of an unstreamed answer",
    (request) => (chunk) => (request.stream === false && chunk.type.startsWith("call-") ? [] : [chunk]),
  ),
  saboteur("at-once", "keeps the state of a call in the provider", () => {
    let calls = 0;
    return {
      wrap: (provider) => ({
        ...provider,
        async *stream(request, io) {
          const mine = ++calls;
          for await (const batch of provider.stream(request, io))
            yield mine === calls ? batch : batch.filter(({ type }) => type !== "text");
        },
      }),
    };
  }),
  withChunks(
    "call",
    "spells the name of a tool its own way",
    oneChunk((chunk) =>
      chunk.type === "call-start" && chunk.id === "call_one" ? [{ ...chunk, name: chunk.name.replace("_", "-") }] : [chunk],
    ),
  ),
  withChunks(
    "call-id",
    "makes up the ids of calls",
    oneChunk((chunk) => (chunk.type === "call-start" ? [{ ...chunk, id: `own_${chunk.index}` }] : [chunk])),
  ),
  withChunks("empty-arguments", "states `null` where there are no arguments", () => {
    const written = new Set<number>();
    return (chunk) => {
      if (chunk.type === "call-args") written.add(chunk.index);
      return chunk.type === "call-end" && !written.has(chunk.index)
        ? [{ type: "call-args", index: chunk.index, delta: "null" }, chunk]
        : [chunk];
    };
  }),
  withChunks(
    "many-pieces",
    "trims every piece of the arguments",
    oneChunk((chunk) => (chunk.type === "call-args" ? [{ ...chunk, delta: chunk.delta.trim() }] : [chunk])),
  ),
  withChunks("parallel-calls", "gives all arguments to the call that began last", () => {
    let last = 0;
    return (chunk) => {
      if (chunk.type === "call-start") last = chunk.index;
      return chunk.type === "call-args" ? [{ ...chunk, index: last }] : [chunk];
    };
  }),
  withChunks("broken-arguments", "repairs arguments that it cannot read", () => {
    let text = "";
    return (chunk) => {
      if (chunk.type === "call-start") text = "";
      if (chunk.type === "call-args") text += chunk.delta;
      // Pieces of the one broken call of the kit.
      return chunk.type === "call-args" && text.includes("oops") ? [{ ...chunk, delta: '""}' }] : [chunk];
    };
  }),
  withChunks("cut-arguments", "completes arguments that were cut off", () => {
    let text = "";
    return (chunk) => {
      if (chunk.type === "call-args") text += chunk.delta;
      return chunk.type === "call-end" && text.endsWith("Ber") ? [{ type: "call-args", index: chunk.index, delta: '"}' }, chunk] : [chunk];
    };
  }),
  withChunks("no-object", "takes a list of arguments for none at all", () => {
    let text = "";
    return (chunk) => {
      if (chunk.type === "call-start") text = "";
      if (chunk.type !== "call-args") return [chunk];
      text += chunk.delta;
      return text.startsWith("[") ? [] : [chunk];
    };
  }),
  withReason("end-stop", "stop", "length"),
  withReason("end-length", "length", "stop"),
  withReason("end-tool_calls", "tool_calls", "stop"),
  withReason("end-refusal", "refusal", "stop"),
  withChunks(
    "raw",
    "forgets the vendor's own word",
    oneChunk((chunk) => {
      if (chunk.type !== "end") return [chunk];
      const { raw: _raw, ...rest } = chunk;
      return [rest];
    }),
  ),
  withChunks(
    "usage",
    "counts the prompt only",
    oneChunk((chunk) => {
      if (chunk.type !== "usage") return [chunk];
      const { output: _output, ...usage } = chunk.usage;
      return [{ type: "usage", usage }];
    }),
  ),
  withChunks(
    "usage-apart",
    "counts what was cached twice",
    oneChunk((chunk) =>
      chunk.type === "usage"
        ? [{ type: "usage", usage: { ...chunk.usage, input: (chunk.usage.input ?? 0) + (chunk.usage.cacheRead ?? 0) } }]
        : [chunk],
    ),
  ),
  withChunks("usage-unknown", "states 0 for what it does not know", () => {
    let known = false;
    return (chunk) => {
      if (chunk.type === "usage") known = true;
      return chunk.type === "end" && !known ? [{ type: "usage", usage: { input: 0, output: 0 } }, chunk] : [chunk];
    };
  }),
];

/** `pipeThrough` reads ahead; this one reads when it is asked, so that leaving early is still seen. */
function pipedByHand(
  body: ReadableStream<Uint8Array>,
  { readable, writable }: TransformStream<Uint8Array, Uint8Array>,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const into = writable.getWriter();
  const out = readable.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const read = await reader.read();
        if (read.done) return controller.close();
        void into.write(read.value);
        const next = await out.read();
        if (!next.done) controller.enqueue(next.value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
