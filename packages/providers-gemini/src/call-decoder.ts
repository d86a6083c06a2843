import type { JsonObject, ModelChunk } from "@loopwright/core";
import { flagIn, listIn, textIn } from "@loopwright/provider-kit";
import { vendor } from "./options.ts";
import { createPartialArgs, type PartialArgs, type WirePartialArg } from "./partial-args.ts";

/** A call, whole or a piece of a streamed one. @see https://ai.google.dev/api/caching#FunctionCall (2026-11-21) */
export interface WireCall {
  readonly id?: string;
  readonly name?: string;
  readonly args?: JsonObject;
  readonly partialArgs?: readonly WirePartialArg[];
  /** The call continues in the next piece, which has no name. */
  readonly willContinue?: boolean;
}

/** Turns calls into chunks. One for each answer. */
export interface CallDecoder {
  readonly hasCalls: boolean;
  take(call: WireCall, signature: string | undefined, chunks: ModelChunk[]): void;
  /** Ends a call that is still open, as one that was cut off. */
  cutOff(chunks: ModelChunk[]): void;
}

/** `nextIndex` gives the index of a new block. */
export function createCallDecoder(nextIndex: () => number): CallDecoder {
  let hasCalls = false;
  let open: { readonly index: number; readonly args: PartialArgs } | undefined;

  const end = (chunks: ModelChunk[], isWhole: boolean): void => {
    if (!open) return;
    const { index, args } = open;
    const text = args.text();
    // Without its last brace a cut call cannot pass for a whole one.
    chunks.push({ type: "call-args", index, delta: isWhole ? text : text.slice(0, -1) }, { type: "call-end", index });
    open = undefined;
  };

  const begin = (call: WireCall & { readonly name: string }, signature: string | undefined, chunks: ModelChunk[]): void => {
    end(chunks, false);
    hasCalls = true;
    const index = nextIndex();
    const id = textIn(call.id, "the id of a function call");
    chunks.push({ type: "call-start", index, name: call.name, ...(id ? { id } : {}) });
    if (signature !== undefined) chunks.push({ type: "opaque", index, vendor, data: { thoughtSignature: signature } });
    if (call.willContinue || call.partialArgs) open = { index, args: createPartialArgs() };
    else chunks.push({ type: "call-args", index, delta: JSON.stringify(call.args ?? {}) }, { type: "call-end", index });
  };

  return {
    get hasCalls() {
      return hasCalls;
    },
    take(call, signature, chunks) {
      const name = textIn(call.name, "the name of a function call");
      const isOpen = flagIn(call.willContinue, "a `willContinue`");
      if (name !== undefined) begin({ ...call, name }, signature, chunks);
      if (!open) return;
      open.args.take(listIn(call.partialArgs, "a list of arguments"));
      if (isOpen) chunks.push({ type: "alive" });
      else end(chunks, true);
    },
    cutOff: (chunks) => end(chunks, false),
  };
}
