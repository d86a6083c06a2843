import { type Assembled, createAssembler, type ModelChunk, type ModelProvider, type ModelRequest } from "@loopwright/core";

/** The whole output of one model call. */
export interface CollectedAnswer {
  readonly batches: readonly (readonly ModelChunk[])[];
  readonly chunks: readonly ModelChunk[];
  /** The chunks folded into the parts of a message; call keys begin with `run.1`. */
  readonly answer: Assembled;
}

/** What a call is made with, beside the request. */
export interface CollectOptions {
  /** Default: one that never fires. */
  readonly signal?: AbortSignal;
  /** Called with every batch as it arrives. */
  readonly onBatch?: (batch: readonly ModelChunk[]) => void;
}

/** Makes one model call and folds its whole answer. Rejects with what the stream throws. */
export async function collectAnswer(
  provider: ModelProvider,
  request: ModelRequest,
  options: CollectOptions = {},
): Promise<CollectedAnswer> {
  const assembler = createAssembler();
  const batches: (readonly ModelChunk[])[] = [];
  const signal = options.signal ?? new AbortController().signal;
  for await (const batch of provider.stream(request, { signal, attempt: 1 })) {
    batches.push(batch);
    for (const chunk of batch) assembler.push(chunk);
    options.onBatch?.(batch);
  }
  return { batches, chunks: batches.flat(), answer: assembler.finish("run.1") };
}

type BlockKind = "text" | "thinking" | "call" | "opaque";

/** What is wrong with the order of the chunks of one whole answer, as sentences; empty when they keep the grammar of the port. */
export function chunkFlaws(chunks: readonly ModelChunk[]): readonly string[] {
  const flaws: string[] = [];
  const kinds = new Map<number, BlockKind>();
  const ended = new Set<number>();
  const ends = chunks.filter((chunk) => chunk.type === "end").length;
  if (ends !== 1) flaws.push(`there are ${ends} end chunks`);
  if (ends > 0 && chunks.at(-1)?.type !== "end") flaws.push("something comes after the end chunk");
  for (const chunk of chunks) {
    if (chunk.type === "usage" || chunk.type === "alive" || chunk.type === "end") continue;
    if (!Number.isInteger(chunk.index) || chunk.index < 0) flaws.push(`a ${chunk.type} chunk has the index ${chunk.index}`);
    const flaw = blockFlaw(chunk, { kinds, ended });
    if (flaw !== undefined) flaws.push(flaw);
  }
  for (const [index, kind] of kinds) if (kind === "call" && !ended.has(index)) flaws.push(`call ${index} has no call-end`);
  return flaws;
}

type BlockChunk = Exclude<ModelChunk, { readonly type: "usage" | "alive" | "end" }>;

function blockFlaw(
  chunk: BlockChunk,
  { kinds, ended }: { readonly kinds: Map<number, BlockKind>; readonly ended: Set<number> },
): string | undefined {
  const { index, type } = chunk;
  const before = kinds.get(index);
  switch (type) {
    case "text":
    case "thinking":
      kinds.set(index, type);
      if (ended.has(index)) return `${type} comes for block ${index} after its block-end`;
      return before === undefined || before === type || before === "opaque" ? undefined : `block ${index} is ${before} and gets ${type}`;
    case "block-end":
      ended.add(index);
      return before === "text" || before === "thinking" ? undefined : `block ${index} ends and is no text or thinking`;
    case "call-start":
      kinds.set(index, "call");
      return before === undefined ? undefined : `block ${index} is ${before} and a call begins in it`;
    case "call-args":
      if (before !== "call") return `arguments come for block ${index} before its call-start`;
      return ended.has(index) ? `arguments come for call ${index} after its call-end` : undefined;
    case "call-end":
      if (before !== "call") return `call ${index} ends and never began`;
      if (ended.has(index)) return `call ${index} ends twice`;
      ended.add(index);
      return undefined;
    case "opaque":
      kinds.set(index, before ?? "opaque");
      return undefined;
    default:
      return chunk satisfies never;
  }
}
