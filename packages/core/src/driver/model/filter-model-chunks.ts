import type { ModelChunk } from "../../message/chunk.ts";
import type { AssistantPart } from "../../message/content.ts";
import { type Filtering, filterStrings, runFiltering } from "../../tools/filter-inside-work.ts";
import type { UserFilter } from "../effects/filter-hook.ts";
import { createTextWindow, type TextWindow } from "../effects/filtered-text-window.ts";
import { andThen, type SyncOrAsync } from "../effects/sync-or-async.ts";
import { createArgumentsWindow } from "./arguments-window.ts";

type Delta = Extract<ModelChunk, { readonly delta: string }>;
type OpaqueChunk = Extract<ModelChunk, { type: "opaque" }>;

/**
 * Passes the chunks of a model through the filters, each block with its own window. The end of a block is held back until the block is
 * complete: at its end chunk, or at the end of the answer, because blocks may interleave. The held-back text of an attempt that was cut off is never
 * published.
 */
export interface ChunkFilter {
  /** Synchronous if the filters are. Must not be called again before it has returned its result. Throws or rejects with the error of a filter. */
  pass(chunks: readonly ModelChunk[]): SyncOrAsync<readonly ModelChunk[]>;
  /** True if the block is not complete: more text may come, or is held back. */
  holds(index: number): boolean;
  /** The parts of a complete answer: arguments are filtered, and opaque parts of the vendor are removed if the filter would change any of them. */
  finish(parts: readonly AssistantPart[]): SyncOrAsync<readonly AssistantPart[]>;
}

interface Block {
  readonly type: Delta["type"];
  readonly window: TextWindow;
}

export function createChunkFilter(filter: UserFilter): ChunkFilter {
  return new BlockFilter(filter);
}

class BlockFilter implements ChunkFilter {
  readonly #filter: UserFilter;
  readonly #blocks = new Map<number, Block>();
  /** The vendor's data of a block, until the block is complete. */
  readonly #opaques = new Map<number, ModelChunk>();
  /** Complete thinking blocks that the filter changed. */
  readonly #changed = new Set<number>();
  /** The tools of the calls, by their blocks. */
  readonly #tools = new Map<number, string>();
  #losesOpaque = false;

  constructor(filter: UserFilter) {
    this.#filter = filter;
  }

  pass(chunks: readonly ModelChunk[]): SyncOrAsync<readonly ModelChunk[]> {
    let passed: SyncOrAsync<readonly ModelChunk[]> = [];
    for (const chunk of chunks)
      passed = andThen(passed, (before) => andThen(this.#passOne(chunk), (more) => (before.length === 0 ? more : [...before, ...more])));
    return passed;
  }

  holds(index: number): boolean {
    return this.#blocks.has(index);
  }

  finish(parts: readonly AssistantPart[]): SyncOrAsync<readonly AssistantPart[]> {
    let finished: SyncOrAsync<readonly AssistantPart[]> = [];
    for (const part of parts) finished = andThen(finished, (before) => andThen(this.#finishOne(part), (more) => [...before, ...more]));
    return finished;
  }

  #finishOne(part: AssistantPart): SyncOrAsync<readonly AssistantPart[]> {
    if (part.type === "opaque") return this.#losesOpaque ? [] : [part];
    if (part.type !== "tool_call" || part.argsText === undefined) return [part];
    return andThen(this.#filter.apply(part.argsText, "arguments", part.name), (argsText) => [{ ...part, argsText }]);
  }

  #passOne(chunk: ModelChunk): SyncOrAsync<readonly ModelChunk[]> {
    switch (chunk.type) {
      case "call-start":
        this.#tools.set(chunk.index, chunk.name);
        return [chunk];
      case "text":
      case "thinking":
      case "call-args":
        return this.#passDelta(chunk);
      case "block-end":
      case "call-end":
        return andThen(this.#endBlock(chunk.index), (ends) => [...ends, chunk]);
      case "opaque":
        return andThen(this.#isClean(chunk), (isClean) => {
          if (isClean) this.#opaques.set(chunk.index, chunk);
          else this.#losesOpaque ||= !this.#blocks.has(chunk.index);
          return [];
        });
      case "end":
        return andThen(this.#endAll(), (ends) => {
          if (chunk.message === undefined) return [...ends, chunk];
          return andThen(this.#filter.apply(chunk.message, "text"), (message) => [...ends, { ...chunk, message }]);
        });
      default:
        return [chunk];
    }
  }

  #passDelta(chunk: Delta): SyncOrAsync<readonly ModelChunk[]> {
    const { type, index } = chunk;
    const block = this.#blocks.get(index) ?? { type, window: newWindow(this.#filter, type) };
    this.#blocks.set(index, block);
    return andThen(this.#run(block.type, block.window.push(chunk.delta), index), (delta) =>
      delta === "" && chunk.delta !== "" ? [] : [{ ...chunk, delta }],
    );
  }

  #endAll(): SyncOrAsync<readonly ModelChunk[]> {
    let ends: SyncOrAsync<readonly ModelChunk[]> = [];
    for (const index of new Set([...this.#blocks.keys(), ...this.#opaques.keys()]))
      ends = andThen(ends, (before) => andThen(this.#endBlock(index), (more) => [...before, ...more]));
    return ends;
  }

  /** A signature may come anywhere in the stream and is valid only for the exact text of its block: it is dropped if the filter changed that text. */
  #endBlock(index: number): SyncOrAsync<readonly ModelChunk[]> {
    const block = this.#blocks.get(index);
    const opaque = this.#opaques.get(index);
    this.#blocks.delete(index);
    this.#opaques.delete(index);
    return andThen(block ? this.#run(block.type, block.window.end(), index) : "", (delta) => {
      if (block?.type === "thinking" && block.window.isChanged) this.#changed.add(index);
      const rest: readonly ModelChunk[] = block && delta !== "" ? [{ type: block.type, index, delta }] : [];
      return opaque && !this.#changed.has(index) ? [...rest, opaque] : rest;
    });
  }

  #isClean(chunk: OpaqueChunk): SyncOrAsync<boolean> {
    return andThen(this.#run("text", filterStrings(chunk.data)), (data) => JSON.stringify(data) === JSON.stringify(chunk.data));
  }

  #run<T>(type: Delta["type"], work: Filtering<T>, index?: number): SyncOrAsync<T> {
    const kind = type === "call-args" ? "arguments" : type;
    const tool = kind === "arguments" && index !== undefined ? this.#tools.get(index) : undefined;
    return runFiltering(work, (text) => this.#filter.apply(text, kind, tool));
  }
}

const newWindow = ({ holdBack }: UserFilter, type: Delta["type"]): TextWindow =>
  type === "call-args" ? createArgumentsWindow(holdBack) : createTextWindow(holdBack);
