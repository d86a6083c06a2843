import type { JsonObject, ModelChunk, Usage } from "@loopwright/core";
import { type ChunkDecoder, countOf, flagIn, listIn, recordIn, requireUsage, streamBroken, textIn } from "@loopwright/provider-kit";
import { createCallDecoder, type WireCall } from "./call-decoder.ts";
import { bodyError } from "./errors.ts";
import { endOf } from "./finish.ts";
import { vendor, vendorName } from "./options.ts";

interface WirePart {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: WireCall;
}

interface WireUsage {
  readonly promptTokenCount?: number;
  readonly cachedContentTokenCount?: number;
  readonly candidatesTokenCount?: number;
  readonly thoughtsTokenCount?: number;
  readonly toolUsePromptTokenCount?: number;
  readonly totalTokenCount?: number;
}

/** One answer, or one piece of a streamed one. @see https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse (2026-11-21) */
export interface WireAnswer {
  readonly candidates?: readonly {
    readonly content?: { readonly parts?: readonly WirePart[] };
    readonly finishReason?: string;
    readonly finishMessage?: string;
  }[];
  readonly promptFeedback?: { readonly blockReason?: string };
  readonly usageMetadata?: WireUsage;
  readonly modelVersion?: string;
  readonly error?: unknown;
}

type Open = { readonly type: "text" | "thinking"; readonly index: number };

/** A decoder for one call. `secrets` are kept out of errors. Content may follow the finish reason, so only the end of the body is the end. */
export function createDecoder(secrets: readonly string[] = []): ChunkDecoder<WireAnswer> {
  let next = 0;
  let open: Open | undefined;
  const calls = createCallDecoder(() => next++);
  let reason: string | undefined;
  let message: string | undefined;
  let blockReason: string | undefined;
  let model: string | undefined;

  const takeText = (part: WirePart, chunks: ModelChunk[]): void => {
    const type = flagIn(part.thought, "a thought") ? "thinking" : "text";
    const delta = textIn(part.text, "a text") ?? "";
    const signature = textIn(part.thoughtSignature, "a signature");
    if (signature === undefined) {
      if (delta === "") return;
      if (open?.type !== type) open = { type, index: next++ };
      chunks.push({ type, index: open.index, delta });
      return;
    }
    // A part with a signature must be sent back unchanged, so it is a block of its own and is not joined with others.
    open = undefined;
    const index = next++;
    if (delta === "")
      chunks.push({
        type: "opaque",
        index,
        vendor,
        data: { part: { text: "", ...(part.thought ? { thought: true } : {}), thoughtSignature: signature } },
      });
    else chunks.push({ type, index, delta }, { type: "opaque", index, vendor, data: { thoughtSignature: signature } });
  };

  const takePart = (part: WirePart, chunks: ModelChunk[]): void => {
    const functionCall = recordIn(part.functionCall, "a function call");
    if (functionCall) {
      open = undefined;
      calls.take(functionCall, textIn(part.thoughtSignature, "a signature"), chunks);
    } else if (part.text !== undefined) takeText(part, chunks);
    else if (Object.keys(part).length > 0) {
      // Code that the vendor ran, its results, media: kept whole, for this vendor only.
      open = undefined;
      chunks.push({ type: "opaque", index: next++, vendor, data: { part: part as JsonObject } });
    }
  };

  const take = (answer: WireAnswer, chunks: ModelChunk[]): void => {
    const usage = answer.usageMetadata ? usageOf(answer.usageMetadata) : undefined;
    if (usage) chunks.push({ type: "usage", usage });
    // The counts beside an error are the usage of the failed call.
    if (answer.error !== undefined) throw bodyError(answer, { secrets });
    const [candidate] = listIn(answer.candidates, "a list of candidates");
    const content = recordIn(candidate?.content, "a content");
    for (const part of listIn(content?.parts, "a list of parts")) takePart(part, chunks);
    reason = textIn(candidate?.finishReason, "a finish reason") ?? reason;
    message = textIn(candidate?.finishMessage, "a finish message") ?? message;
    blockReason = textIn(recordIn(answer.promptFeedback, "a `promptFeedback`")?.blockReason, "a block reason") ?? blockReason;
    model = textIn(answer.modelVersion, "a model") ?? model;
  };

  return {
    ended: false,
    take,
    // Some gateways send a list.
    takeWhole: (body: WireAnswer | readonly WireAnswer[], chunks) => {
      for (const answer of "length" in body ? body : [body]) take(answer, chunks);
    },
    finish(chunks) {
      if (reason === undefined && blockReason === undefined) throw streamBroken(vendorName, "its finish reason");
      calls.cutOff(chunks);
      chunks.push(endOf({ reason, message, blockReason, hasCalls: calls.hasCalls, model }));
    },
  };
}

/**
 * The count of the prompt includes the cached tokens; the count of the candidates does not include the thoughts; the tokens that the vendor's own
 * tools read are counted separately. A count that is not reported is unknown.
 */
function usageOf(wire: WireUsage): Usage | undefined {
  requireUsage(wire);
  const [prompt, cached, toolUse] = [wire.promptTokenCount, wire.cachedContentTokenCount, wire.toolUsePromptTokenCount].map(countOf);
  const [candidates, thoughts, total] = [wire.candidatesTokenCount, wire.thoughtsTokenCount, wire.totalTokenCount].map(countOf);
  const input = prompt === undefined && toolUse === undefined ? undefined : (prompt ?? 0) - (cached ?? 0) + (toolUse ?? 0);
  const output = candidates === undefined && thoughts === undefined ? undefined : (candidates ?? 0) + (thoughts ?? 0);
  if (input === undefined && output === undefined) return undefined;
  return {
    ...(input === undefined ? {} : { input: Math.max(0, input) }),
    ...(cached === undefined ? {} : { cacheRead: cached }),
    ...(output === undefined ? {} : { output }),
    ...(thoughts === undefined ? {} : { reasoning: thoughts }),
    ...(total === undefined ? {} : { total }),
  };
}
