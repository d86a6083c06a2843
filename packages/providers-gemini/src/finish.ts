import type { ModelChunk, StopReason } from "@loopwright/core";
import { vendorText } from "@loopwright/provider-kit";

/** How an answer ended, in the vendor's words. */
export interface WireFinish {
  readonly reason: string | undefined;
  readonly message: string | undefined;
  /** Why the prompt was not answered at all. */
  readonly blockReason: string | undefined;
  readonly hasCalls: boolean;
  readonly model: string | undefined;
}

/**
 * What a person may read for each reason that is no answer. @see https://ai.google.dev/api/generate-content#FinishReason (2026-11-21)
 */
const failures: { readonly [reason: string]: string } = {
  SAFETY: "Gemini stopped its answer: its safety filter objected.",
  RECITATION: "Gemini stopped its answer: it came too close to a text of its training.",
  LANGUAGE: "Gemini does not support this language.",
  BLOCKLIST: "Gemini stopped its answer: it held a forbidden term.",
  PROHIBITED_CONTENT: "Gemini stopped its answer: its content may be prohibited.",
  SPII: "Gemini stopped its answer: it may hold sensitive personal data.",
  MALFORMED_FUNCTION_CALL: "Gemini wrote a tool call that cannot be read.",
  MALFORMED_RESPONSE: "Gemini wrote an answer that cannot be read.",
  UNEXPECTED_TOOL_CALL: "Gemini called a tool although none was offered.",
  TOO_MANY_TOOL_CALLS: "Gemini called its own tools too often.",
  MISSING_THOUGHT_SIGNATURE: "Gemini missed a thought signature in the history.",
  IMAGE_SAFETY: "Gemini stopped its image: its safety filter objected.",
  IMAGE_PROHIBITED_CONTENT: "Gemini stopped its image: its content may be prohibited.",
  IMAGE_RECITATION: "Gemini stopped its image: it came too close to one of its training.",
  NO_IMAGE: "Gemini was to make an image and made none.",
};

/** The end chunk. STOP is the word for tool calls too; a reason that is not known is an error that names it. */
export function endOf({ reason, message, blockReason, hasCalls, model }: WireFinish): ModelChunk {
  const raw = reason ?? blockReason ?? "";
  const common = { raw, ...(model === undefined ? {} : { model }) };
  if (reason === undefined) {
    return { type: "end", stopReason: "error", message: `Gemini did not answer: it blocked the prompt (${blockReason}).`, ...common };
  }
  const stopReason = stopReasonOf(reason, hasCalls);
  if (stopReason !== "error") return { type: "end", stopReason, ...common };
  const own = failures[reason] ?? `Gemini stopped its answer (${reason}).`;
  return { type: "end", stopReason, message: message ? `${own} ${vendorText(message)}` : own, ...common };
}

function stopReasonOf(reason: string, hasCalls: boolean): Exclude<StopReason, "aborted"> {
  switch (reason) {
    case "STOP":
      return hasCalls ? "tool_calls" : "stop";
    // CONTINUATION: the answer is longer than one request may be.
    case "MAX_TOKENS":
    case "CONTINUATION":
      return "length";
    default:
      return "error";
  }
}
